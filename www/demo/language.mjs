/** The switch for the language of the cards, which a reload and every tab of the site find as it was left. */

const KEY = "countersign-demo:language";

/**
 * @param {HTMLSelectElement} select its options are the languages that the package brings, English first
 * @param {HTMLElement & { strings?: object }} approvals
 */
export function switchLanguage(select, approvals) {
  const show = async () => {
    const language = select.value;
    const strings = language === "en" ? undefined : await stringsOf(language);
    // Another one may have been chosen meanwhile.
    if (select.value === language) approvals.strings = strings;
  };
  select.addEventListener("change", () => {
    keep(select.value);
    show();
  });
  addEventListener("storage", ({ key }) => {
    if (key === KEY) take();
  });
  const take = () => {
    const kept = read();
    select.value = [...select.options].some(({ value }) => value === kept) ? kept : "en";
    show();
  };
  take();
}

async function stringsOf(language) {
  const response = await fetch(`./dist/locales/${language}.json`);
  return response.json();
}

/** Null where nothing was kept, or may be. */
function read() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keep(language) {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // Where a browser keeps nothing, it lasts as long as the page.
  }
}
