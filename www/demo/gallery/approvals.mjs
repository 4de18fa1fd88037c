/** Cards that wait for an approval. */

const TASTING = { title: "Tasting", day: "2026-03-01", hour: 15, remind: true };

const LETTER = [
  "Dear all,",
  "",
  "pictures could not be uploaded this morning between 9:10 and 9:45. The cause was a certificate that had expired: the " +
    "upload server refused every connection until it was renewed.",
  "",
  "What we changed:",
  "  1. A check warns the people on call two weeks ahead.",
  "  2. The renewal is tried every day.",
  "",
  "Uploads of that time were not stored. Please send them once more.",
  "",
  "Kind regards",
  "Ada",
].join("\n");

/** The call of a short record. */
export const SHORT = [["calendar__add", TASTING]];

/** The call of a text of several lines. */
export const LONG = [["mail__send", { to: "team@example.org", subject: "Uploads this morning", body: LETTER }]];

/** A call with more values than a card shows. */
const FOLDED = ["site__settings", { tags: Array.from({ length: 64 }, (_, place) => `tag-${place + 1}`) }];

/** A rule whose question can be answered for later calls too. */
export const GRANTABLE = {
  rules: ({ ask }) => [ask("calendar__add", "The calendar is shared with the team.", { grantable: true })],
};

export const APPROVALS = [
  { name: "short-record", title: "A short record", calls: SHORT },
  { name: "long-text", title: "A long text", calls: LONG },
  {
    name: "rows",
    title: "A list of rows",
    calls: [
      [
        "shop__order",
        {
          items: [
            { article: "Oat cookies", count: 12, price: "4.80" },
            { article: "Ginger cookies", count: 6, price: "3.20" },
            { article: "Almond cookies", count: 24, price: "11.00" },
          ],
        },
      ],
    ],
  },
  {
    name: "nested",
    title: "A nested record",
    calls: [
      [
        "site__settings",
        {
          theme: { colour: "teal", font: { family: "Inter", size: 16 } },
          access: { public: false, editors: ["ada", "grace"], until: null },
          tags: [],
          "odd.key": "",
        },
      ],
    ],
  },
  { name: "no-arguments", title: "No arguments, no declared effect", calls: [["cache__clear", {}]] },
  {
    name: "hidden-characters",
    title: "Hidden characters",
    calls: [
      [
        "files__delete",
        { path: "/home/ada/\u202Egnp.exe\u202C/re\u200Bport\u3164.txt", reason: "tidy\u00A0up  \u2028  now" },
      ],
    ],
  },
  {
    name: "mixed-scripts",
    title: "Letters of two alphabets, and a host that is not what it looks like",
    calls: [
      [
        "mail__send",
        { to: "ada@ex\u0430mple.org", subject: "P\u0430yment", body: "See https://p\u0430ypal.example/pay" },
      ],
    ],
  },
  {
    name: "difference",
    title: "What would change",
    calls: [
      [
        "site__title",
        {
          title: "Pictures could not be uploaded",
          body: "Pictures could not be uploaded this morning.\nEverything else worked.\nThe next report follows on Friday.",
          tags: ["status"],
        },
      ],
    ],
  },
  {
    name: "destructive",
    title: "Cannot be taken back, and reaches others",
    calls: [["pay__send", { to: "Grace Hopper", amount: 1250.5 }]],
  },
  {
    name: "folded",
    title: "More than a card shows at once",
    calls: [FOLDED],
  },
  {
    name: "folded-text",
    title: "A text of many lines",
    calls: [
      [
        "mail__send",
        {
          to: "team@example.org",
          subject: "Log",
          body: Array.from({ length: 400 }, (_, n) => `line ${n + 1}`).join("\n"),
        },
      ],
    ],
  },
  {
    name: "wide-rows",
    title: "Rows of many columns",
    calls: [
      [
        "shop__order",
        {
          items: ["oat", "ginger", "almond"].map((kind, n) => ({
            article: `${kind} cookies`,
            count: 12 * (n + 1),
            price: `${n + 3}.80`,
            organic: n === 1,
            supplier: "The bakery at the corner",
            note: n === 0 ? "wrapped one by one, please, and not beside the cheese" : null,
          })),
        },
      ],
    ],
  },
  { name: "preview", title: "With a preview", calls: [["jar__empty", { count: 12 }]] },
  {
    name: "server-tool",
    title: "A tool of the provider's server",
    calls: [["look", { path: "/etc" }]],
    server: "files",
  },
  {
    name: "unbroken",
    title: "Words without an end",
    calls: [
      [
        "files__delete",
        {
          path: `/srv/${"a-folder-that-has-a-long-name/".repeat(3)}${"0123456789".repeat(12)}`,
          reason: "Donaudampfschifffahrtsgesellschaftskapitänsmütze",
        },
      ],
    ],
  },
  {
    name: "expiring",
    title: "Expires in ten minutes",
    calls: SHORT,
    options: { approvals: { expireAfterMs: 600_000 } },
  },
  { name: "more", title: "What else can be done", calls: SHORT, act: (kit) => press(kit, "more") },
  {
    name: "scopes",
    title: "What can be allowed beyond the one call",
    calls: SHORT,
    options: GRANTABLE,
    act: (kit) => press(kit, "more"),
  },
  {
    name: "standing",
    title: "What would be allowed from now on, word for word",
    calls: SHORT,
    options: GRANTABLE,
    act: async (kit) => {
      press(kit, "more");
      press(kit, "standing");
    },
  },
  {
    name: "note",
    title: "A long note",
    calls: SHORT,
    act: async (kit) => type(kit, "It clashes with the harvest. ".repeat(16).trim(), "note"),
  },
  {
    name: "note-not-shown",
    title: "A note that the assistant does not read",
    calls: SHORT,
    act: async ({ element }) => {
      element.by = "grace";
    },
  },
  { name: "edit", title: "Its arguments in fields", calls: SHORT, act: openEdit },
  {
    name: "edit-changed",
    title: "Its arguments changed",
    calls: SHORT,
    act: async (kit) => {
      await openEdit(kit);
      type(kit, "Tasting of the ginger cookies");
    },
  },
  {
    name: "edit-list",
    title: "A list of texts changed",
    calls: [["tags__set", { tags: ["status", "pictures"] }]],
    act: async (kit) => {
      await openEdit(kit);
      type(kit, "status\nuploads");
    },
  },
  {
    name: "edit-text",
    title: "Its arguments as text, and wrong",
    calls: [["site__settings", { theme: { colour: "teal" }, tags: ["old"] }]],
    act: async (kit) => {
      await openEdit(kit);
      type(kit, "{ theme");
    },
  },
  {
    name: "edit-refused",
    title: "Its arguments changed to what a rule refuses",
    calls: SHORT,
    options: {
      rules: ({ refuse }) => [refuse("calendar__add", ({ title }) => !title, "An entry needs a title.")],
    },
    act: async (kit) => {
      await openEdit(kit);
      type(kit, "");
    },
  },
  {
    name: "several",
    title: "Several at once",
    calls: [...SHORT, ["jar__empty", { count: 3 }], ["cache__clear", {}]],
  },
  {
    name: "several-folded",
    title: "Several at once, one of them not read yet",
    calls: [...SHORT, FOLDED],
  },
  {
    name: "one-approved",
    title: "One of two approved",
    calls: [...SHORT, ["jar__empty", { count: 3 }]],
    act: ({ decide }) => decide({ approve: true }),
    endless: true,
  },
  {
    name: "one-decided",
    title: "One of two decided",
    calls: [...SHORT, ["jar__empty", { count: 3 }]],
    act: ({ decide }) => decide({ approve: false }),
    endless: true,
  },
  { name: "modal", title: "In a dialog", calls: SHORT, attributes: { presentation: "modal" }, alone: true },
  {
    name: "modal-closed",
    title: "In a dialog that was closed",
    calls: SHORT,
    attributes: { presentation: "modal" },
    alone: true,
    act: async ({ element }) => element.shadowRoot.querySelector("dialog").close(),
  },
  {
    name: "recovery",
    title: "Started, and its result lost",
    calls: [["jar__empty", { count: 12 }]],
    run: never,
    endless: true,
    act: lost,
  },
];

async function openEdit(kit) {
  press(kit, "more");
  press(kit, "edit-open");
}

/** Presses a button that decides nothing: for those a script's click will do. The reader stays where they are. */
function press({ element }, part) {
  const { scrollX, scrollY } = window;
  element.shadowRoot.querySelector(`[part~='${part}']`).click();
  element.shadowRoot.activeElement?.blur();
  scrollTo(scrollX, scrollY);
}

/** Types into the first field of a part: of the arguments, if no other is named. */
function type({ element }, text, part = "edit") {
  const field = element.shadowRoot.querySelector(`[part~='${part}'] :is(input, textarea)`);
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
}

/** A tool that does not end. */
export function never() {
  return () => new Promise(() => {});
}

/** Approves, and loses the page while the tool runs. */
export async function lost({ decide, until, reload }) {
  await decide({ approve: true });
  await until(({ messages }) => messages.at(-1).calls[0].state === "running");
  await reload();
}
