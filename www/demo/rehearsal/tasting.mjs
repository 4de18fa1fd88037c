/** The rehearsal model's skill with tastings: it has one planned, and says what came of it. */

import { accountOf, answered } from "./account.mjs";
import { objectIn, toolAmong } from "./history.mjs";

const SPEECH = {
  unchanged: "no tasting was planned",
  another: "another occasion",
  unknown: "whether the tasting was planned",
};

export const tasting = {
  label: "The tasting",

  /** The tool that plans a tasting: by its schema. */
  toolIn(tools) {
    return toolAmong(tools, (_, { occasion }) => occasion);
  },

  owns: (tool, tools) => tool === tasting.toolIn(tools),

  wishOf({ words, quoted }) {
    return /\btasting\b/u.test(words) ? { kind: "plan", occasion: quoted[0] ?? "a cookie tasting" } : null;
  },

  next({ occasion }, { tools, settled }) {
    const tool = tasting.toolIn(tools);
    if (!tool) return { text: "No tool for tastings was offered to me in this request, so I can plan nothing." };
    const planned = settled.findLast((call) => call.tool === tool);
    return planned ? { text: tasting.reportOf(planned) } : { call: { tool, args: { occasion } } };
  },

  /** Nothing here reads plans. */
  lookInstead: () => null,

  reportOf({ result }) {
    if (result.token) return accountOf(result, SPEECH);
    const data = objectIn(result.text);
    if (data?.planned !== true || !Array.isArray(data.kinds)) return answered(result);
    const guests = data.guests === 1 ? "one guest" : `${data.guests} guests`;
    return `The tasting of ${data.kinds.join(" and ")} cookies is planned for ${data.day}, with ${guests}. Nobody was invited yet.`;
  },
};
