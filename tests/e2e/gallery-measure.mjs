/** Measures the cards of the gallery, inside the page: each function gives what is wrong, as sentences with the state's name. */

/** Nothing is wider than its place, nothing is cut off, and nothing lies on something else. */
export const layoutFaults = (page) =>
  page.evaluate(() => {
    const faults = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) faults.push(`page: ${scrollWidth} wide in ${clientWidth}`);
    for (const figure of document.querySelectorAll("figure")) {
      const root = figure.lastElementChild.shadowRoot;
      const fault = (what, element) =>
        faults.push(`${figure.dataset.state}: ${what}: ${element.outerHTML.slice(0, 90)}`);
      // What is there for ears alone is cut down to nothing on purpose.
      const unseen = [...root.querySelectorAll("*")].filter((element) => getComputedStyle(element).clipPath !== "none");
      const seen = [...root.querySelectorAll("*")].filter(
        (element) => element.checkVisibility() && !unseen.some((cut) => cut.contains(element)),
      );
      for (const element of seen) {
        const { overflowX, overflowY } = getComputedStyle(element);
        const scrollsSideways = /auto|scroll/.test(overflowX) && element.tabIndex >= 0;
        // Text in a line has no client width, and in a field it may go on.
        if (
          element.clientWidth > 0 &&
          !element.matches("input") &&
          !scrollsSideways &&
          element.scrollWidth > element.clientWidth + 1
        )
          fault("too wide", element);
        if (overflowY === "hidden" || overflowY === "clip" || overflowX === "hidden") {
          if (element.scrollHeight > element.clientHeight + 1) fault("cut off", element);
        }
        const scrolls = element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(overflowY);
        if (scrolls && element.tabIndex < 0) fault("scrolls, and no key gets there", element);
      }
      const boxes = seen.flatMap((element) => leaves(element));
      boxes.forEach(([box, element], at) => {
        const card = element.closest("[part~='card']")?.getBoundingClientRect();
        if (card && (box.left < card.left || box.right > card.right || box.bottom > card.bottom))
          fault("outside", element);
        for (const [other, its] of boxes.slice(at + 1)) {
          const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
          const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
          if (across > 1 && down > 1 && its !== element && !element.contains(its)) fault("lies on another", element);
        }
      });
    }
    return faults;

    /** What of an element can lie on something: its own text, line by line, or all of a control. */
    function leaves(element) {
      if (element.matches("input, select, textarea, button")) return [[element.getBoundingClientRect(), element]];
      // What scrolls shows a part of its text only.
      const scroller = element.closest("[tabindex='0']");
      if (scroller) return scroller === element ? [[element.getBoundingClientRect(), element]] : [];
      if (element.closest("select, button")) return [];
      return [...element.childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "")
        .flatMap((node) => {
          const range = document.createRange();
          range.selectNodeContents(node);
          return [...range.getClientRects()].map((box) => [box, element]);
        });
    }
  });

/** What decides is 44 pixels high and wide, everything else that is pressed 24. */
export const targetFaults = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("figure")].flatMap((figure) => {
      const root = figure.lastElementChild.shadowRoot;
      const pressed = [...root.querySelectorAll("button, a, input, select, textarea, summary")];
      return pressed
        .filter((element) => element.checkVisibility() && element.type !== "hidden")
        .flatMap((element) => {
          // A label is pressed for its box.
          const target = element.matches("[type='checkbox'], [type='radio']") ? element.closest("label") : element;
          const { width, height } = target.getBoundingClientRect();
          const least = element.closest("[part~='actions']") ? 44 : 24;
          const fits = width >= least && height >= least;
          return fits ? [] : [`${figure.dataset.state}: ${width} × ${height}: ${element.outerHTML.slice(0, 90)}`];
        });
    }),
  );

/** Buttons of one row are equally large, and no text is smaller than 13 pixels or has a word broken that had room in its card. */
export const textFaults = (page) =>
  page.evaluate(() => {
    const faults = [];
    for (const figure of document.querySelectorAll("figure")) {
      const root = figure.lastElementChild.shadowRoot;
      const fault = (what, element) =>
        faults.push(`${figure.dataset.state}: ${what}: ${element.outerHTML.slice(0, 90)}`);
      for (const row of root.querySelectorAll("[part~='actions'], [part~='bulk']")) {
        const boxes = [...row.children].map((button) => button.getBoundingClientRect());
        if (boxes.some(({ width, height }) => differ(width, boxes[0].width) || differ(height, boxes[0].height)))
          fault("unequal", row);
      }
      const unseen = [...root.querySelectorAll("*")].filter((element) => getComputedStyle(element).clipPath !== "none");
      for (const element of root.querySelectorAll("*")) {
        if (!element.checkVisibility() || unseen.some((cut) => cut.contains(element))) continue;
        const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        if (texts.length === 0 || element.closest("option")) continue;
        if (Number.parseFloat(getComputedStyle(element).fontSize) < 13) fault("small", element);
        // What the call says may be as long as it likes.
        if (element.closest("[part~='arguments'], [part~='difference'], [part~='authorization'], code, [dir='auto']"))
          continue;
        const card = element.closest("[part~='card'], [part~='grant'], section") ?? figure;
        const room = card.clientWidth / 2;
        for (const text of texts) {
          for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{M}\p{N}()]+/gu)) {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
            const length = boxes.reduce((sum, { width }) => sum + width, 0);
            if (new Set(boxes.map(({ top }) => Math.round(top))).size > 1 && length < room)
              fault(`broken: ${word}`, element);
          }
        }
      }
    }
    return faults;

    function differ(one, other) {
      return Math.abs(one - other) > 1;
    }
  });

/** The boxes of everything that has a part, and of the texts in it, by state and place, measured from where a line begins. */
export const partBoxes = (page) =>
  page.evaluate(() => {
    const isRtl = document.documentElement.dir === "rtl";
    return [...document.querySelectorAll("figure")].flatMap((figure) => {
      const frame = figure.getBoundingClientRect();
      const root = figure.lastElementChild.shadowRoot;
      const drawn = [...root.querySelectorAll("[part], dt, dd, li, th, td, [part~='receipt'] > *, dd > span")];
      return drawn
        .filter((element) => element.checkVisibility())
        .map((element, at) => {
          const text = document.createRange();
          text.selectNodeContents(element);
          // A text of several paragraphs begins where its own lines do.
          const scrolls = element.closest("[tabindex='0']") ?? element.querySelector("[tabindex='0']");
          const hasText = !scrolls && text.getBoundingClientRect().width > 0;
          const boxes = [element, ...(hasText ? [text] : [])].map((box) => measure(box.getBoundingClientRect()));
          return { name: `${figure.dataset.state} ${at} ${element.localName}`, boxes: boxes.flat() };
        });

      function measure({ left, right, top, width, height }) {
        const start = isRtl ? frame.right - right : left - frame.left;
        return [start, top - frame.top, width, height];
      }
    });
  });

/** What stands elsewhere on one page than on the other, by more than a gap within a line of text: `slack` pixels. */
export const movedBoxes = (boxes, others, slack = 4) =>
  others.filter(({ name, boxes: its }, at) => {
    // Within a sentence a name goes where the sentence's direction puts it.
    if (name.endsWith(" code")) return false;
    const one = boxes[at];
    return (
      name !== one?.name ||
      its.length !== one.boxes.length ||
      its.some((side, place) => Math.abs(side - one.boxes[place]) > slack)
    );
  });

/** Focuses everything that takes the focus; the ring must be there, two pixels wide, and stand out from the card. */
export async function ringFaults(page) {
  // After a key the browser shows where the focus is, also where a script puts it.
  await page.keyboard.press("Shift");
  return page.evaluate(() => {
    const faults = [];
    let rings = 0;
    for (const figure of document.querySelectorAll("figure")) {
      const root = figure.lastElementChild.shadowRoot;
      for (const element of root.querySelectorAll(
        "button, a, input, select, textarea, summary, [tabindex]:not(.list)",
      )) {
        if (!element.checkVisibility() || element.type === "hidden") continue;
        const fault = (what) => faults.push(`${figure.dataset.state}: ${what}: ${element.outerHTML.slice(0, 90)}`);
        element.focus();
        const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
        const ground = getComputedStyle(element.closest("[part~='card']") ?? document.body).backgroundColor;
        if (root.activeElement !== element) fault("takes no focus");
        else if (outlineStyle === "none" || Number.parseFloat(outlineWidth) < 2) fault("no ring");
        else if (contrast(outlineColor, ground) < 3) fault(`${outlineColor} on ${ground}`);
        else rings += 1;
        element.blur();
      }
    }
    return { faults, rings };

    function contrast(...colors) {
      const [dark, light] = colors.map(luminance).sort((a, b) => a - b);
      return (light + 0.05) / (dark + 0.05);
    }

    function luminance(color) {
      const [red, green, blue] = color
        .match(/[\d.]+/g)
        .map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    }
  });
}
