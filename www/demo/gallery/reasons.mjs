/** Cards by why they stopped: rules, tools and permissions that had changed, results from outside. */
import { GRANTABLE, SHORT } from "./approvals.mjs";
import { withoutGrants } from "./kept.mjs";

const JAR = [["jar__empty", { count: 12 }]];

export const REASONS = [
  {
    name: "rule",
    title: "Stopped by a rule",
    calls: [["files__delete", { path: "/home/ada/report.txt", reason: "It is old." }]],
    options: { rules: ({ ask }) => [ask("files__*", "What is deleted cannot be brought back.")] },
  },
  {
    name: "broken-rule",
    title: "A rule that could not be evaluated",
    calls: SHORT,
    options: {
      rules: () => [
        () => {
          throw new Error("calendars is not defined");
        },
      ],
    },
  },
  {
    name: "tainted",
    title: "After a result from outside",
    calls: [["web__read", { url: "https://example.org/tastings" }]],
    next: SHORT,
    options: { rules: ({ allow }) => [allow("web__read"), allow("calendar__add")] },
  },
  {
    name: "voided",
    title: "Allowed before, but the tool has changed since",
    calls: SHORT,
    options: GRANTABLE,
    act: async ({ decide, another }) => {
      await decide({ approve: true, scope: "always" });
      await another({ calendar__add: { description: "Adds an entry to every calendar." } });
    },
  },
  {
    name: "unread",
    title: "Whether it was allowed before cannot be read",
    calls: SHORT,
    options: GRANTABLE,
    store: withoutGrants,
  },
  {
    name: "preview-failed",
    title: "A preview that failed",
    calls: JAR,
    preview: () => {
      throw new Error("The jar cannot be reached.");
    },
  },
];
