/**
 * Every state of the card: what the model calls, and what happens then. The page shows them side by side, and the tests go
 * through them.
 *
 * @typedef {object} State
 * @property {string} name stands in addresses and file names
 * @property {string} group the heading it stands under
 * @property {string} title
 * @property {[tool: string, args: unknown][]} calls what the model wants
 * @property {string} [server] the provider's server that has the tools, instead of the page
 * @property {[tool: string, args: unknown][]} [next] what it wants once it has the results of those
 * @property {(library: any) => (args: any, context: any) => unknown} [run] what the tools do
 * @property {(args: any) => unknown} [preview] what the tools say they would do
 * @property {(store: any) => any} [store] what becomes of the store
 * @property {"grants"} [shows] the list of standing permissions, instead of the cards
 * @property {string} [press] the part of a button that a person must press to get there: no script can
 * @property {object} [options] more of the agent's
 * @property {Record<string, string>} [attributes] of the element
 * @property {true} [alone] lies above the rest of the page, and is shown only by itself
 * @property {string[]} [log] what the store holds, instead of a run
 * @property {(kit: any) => Promise<void>} [act] how the state is reached once the calls are made; see stage.mjs
 * @property {true} [endless] what was approved does not end
 */
import { APPROVALS } from "./approvals.mjs";
import { GRANTS } from "./grants.mjs";
import { REASONS } from "./reasons.mjs";
import { RECEIPTS } from "./receipts.mjs";
import { REFUSALS } from "./refusals.mjs";
import { REQUESTS } from "./requests.mjs";

/** @type {State[]} */
export const STATES = [
  ...under("Approvals", APPROVALS),
  ...under("Why they stopped", REASONS),
  ...under("Clicks", REFUSALS),
  ...under("What a tool asks for", REQUESTS),
  ...under("Receipts", RECEIPTS),
  ...under("Standing permissions", GRANTS),
];

function under(group, states) {
  return states.map((state) => ({ group, ...state }));
}
