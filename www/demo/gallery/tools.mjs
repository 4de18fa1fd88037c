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
  cache__clear: { title: "Clear the cache", inputSchema: object({}) },
  files__delete: { effect: "write", inputSchema: object({ path: text, reason: text }) },
  jar__empty: {
    title: "Empty the cookie jar",
    effect: "write",
    inputSchema: object({ count: whole }),
    preview: ({ count }) => [`Takes ${count} cookies out of the jar.`, "Leaves none."],
  },
  party__plan: { title: "Plan a tasting", effect: "read", inputSchema: object({}) },
};
