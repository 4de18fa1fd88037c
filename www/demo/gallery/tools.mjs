/** The tools of the gallery's chats, by name. They do nothing: the cards about them are what there is to see. */

const text = { type: "string" };
const whole = { type: "integer" };
const object = (properties) => ({ type: "object", properties });

export const TOOLS = {
  calendar__add: {
    title: "Add to the calendar",
    effect: "write",
    inputSchema: object({ title: text, day: text, hour: whole, remind: { type: "boolean" } }),
  },
  mail__send: {
    title: "Send a mail",
    effect: "write",
    inputSchema: object({ to: text, subject: text, body: text }),
  },
  shop__order: {
    title: "Place an order",
    effect: "write",
    inputSchema: object({ items: { type: "array", items: object({ article: text, count: whole, price: text }) } }),
  },
  site__settings: {
    title: "Change the site's settings",
    effect: "write",
    inputSchema: object({ theme: object({}), access: object({}), tags: { type: "array" } }),
  },
  tags__set: {
    title: "Set the page's tags",
    effect: "write",
    inputSchema: object({ tags: { type: "array", items: text } }),
  },
  cache__clear: { title: "Clear the cache", inputSchema: object({}) },
  files__delete: { effect: "write", inputSchema: object({ path: text, reason: text }) },
  jar__empty: {
    title: "Empty the cookie jar",
    effect: "write",
    inputSchema: object({ count: whole }),
    preview: ({ count }) => [`Takes ${count} cookies out of the jar.`, "Leaves none."],
  },
  site__title: {
    title: "Rewrite the page's title",
    effect: "write",
    inputSchema: object({ title: text, body: text, tags: { type: "array" } }),
    preview: () => ({
      current: {
        title: "Status update",
        body: "Pictures could not be uploaded.\nEverything else worked.\nThe next report follows.",
        tags: ["status", "pictures"],
      },
    }),
  },
  pay__send: {
    title: "Send money",
    effect: "write",
    idempotent: true,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    inputSchema: object({ to: text, amount: { type: "number" } }),
  },
  web__read: {
    title: "Read a page of the web",
    effect: "read",
    untrusted: true,
    inputSchema: object({ url: text }),
  },
  party__plan: { title: "Plan a tasting", effect: "read", inputSchema: object({}) },
};
