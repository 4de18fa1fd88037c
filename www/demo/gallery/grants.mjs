/** The list of standing permissions, `<countersign-grants>`. */
import { LONG, SHORT } from "./approvals.mjs";
import { withoutGrants } from "./kept.mjs";

const HOUR = 3_600_000;

export const GRANTS = [
  {
    name: "grants",
    title: "Permissions of every kind",
    shows: "grants",
    calls: [...SHORT, ["jar__empty", { count: 3 }], ...LONG, ["cache__clear", {}]],
    options: {
      rules: ({ ask }) => [ask("*", "The team is told.", { grantable: true })],
    },
    act: async ({ decide, change }) => {
      await decide(
        { approve: true, scope: { scope: "always", until: Date.now() + HOUR } },
        { approve: true, scope: { scope: "chat", arguments: false } },
        { approve: true, scope: { scope: "always", arguments: ["to", "body"] } },
        { approve: true, scope: "always" },
      );
      change({ calendar__add: { description: "Adds an entry to every calendar.", title: "Add to all calendars" } });
    },
  },
  { name: "grants-none", title: "No permissions", shows: "grants", calls: [] },
  {
    name: "grants-unread",
    title: "Permissions that cannot be read",
    shows: "grants",
    calls: [],
    store: withoutGrants,
  },
];
