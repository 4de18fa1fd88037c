/**
 * Cards whose click came to nothing, and one whose click is on its way. Only a person can click: on the page `press` says
 * which button leads there, and the tests press it.
 */
import { SHORT } from "./approvals.mjs";
import { full } from "./kept.mjs";

let looks = 0;

export const REFUSALS = [
  {
    name: "refused",
    title: "Decided by who may not",
    calls: SHORT,
    options: { canDecide: () => false },
    press: "deny",
  },
  {
    name: "refused-changed",
    title: "Approved, but what would run had changed",
    calls: [["jar__empty", { count: 12 }]],
    preview: ({ count }) => {
      looks += 1;
      return looks > 1 ? [`Takes ${count} cookies, the last of them.`] : [`Takes ${count} of 40 cookies.`];
    },
    press: "approve",
  },
  {
    name: "refused-storage",
    title: "Decided, but it could not be stored",
    calls: SHORT,
    store: full,
    press: "deny",
  },
  {
    name: "storing",
    title: "Decided, and being stored",
    calls: SHORT,
    options: { canDecide: () => new Promise(() => {}) },
    press: "approve",
  },
];
