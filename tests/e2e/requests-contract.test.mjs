/** Where each sentence of the contract on requests and answers is proved. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

/** Where each sentence of the contract's part on requests and answers is proved: its first words, and tests' names. */
const SENTENCES = {
  "A pause is a `Request": ["waits with all it said, and on ok the tool is called once more with the answer"],
  "`Answer {id, ok, data?, reason?, by?}` settles it": ["is told to the model by who gave it, and its reason is not"],
  "The loop branches on `ok` alone": [
    "a_tool_that_asks_is_called_once_more_with_the_answer",
    "every_reason_and_answerer_has_its_outcome_on_what_a_tool_asks",
  ],
  "`answerDeclined(id, reason": [
    "of the helpers is what the contract says",
    "is the contract's error and changes nothing",
  ],
  "`answerOutput(id, data)` is": ["of the helpers is what the contract says"],
  "`by` ∈": [
    "is told to the model by who gave it, and its reason is not",
    "is the contract's error and changes nothing",
  ],
  "On an approval": ["every_reason_and_answerer_has_its_outcome_on_an_approval"],
  "The reason is logged": ["the_reason_of_an_answer_is_logged_and_not_shown_to_the_model"],
  "The host may pass `waitFor": [
    "answers: that decides",
    "is answered in another tab next week, and the model reads one true result",
  ],
  "A `waitFor` that rejects": ["rejects: that decides nothing", "never settles: that decides nothing"],
  "`ok: false` never reaches": ["never reaches the tool again when it is refused"],
  "A tool may itself return": ["waits with all it said, and on ok the tool is called once more with the answer"],
  "On `ok: true` it is called": ["a_tool_that_asks_is_called_once_more_with_the_answer"],
  "A gate in front of a tool": ["a_gate_in_front_of_a_tool_means_that_it_was_never_called"],
  "An answer with an unknown id": ["is the contract's error and changes nothing"],
  "The same answer twice": [
    "answers_that_do_not_fit_change_nothing",
    "the_same_answer_is_the_same_whatever_the_order_of_its_keys",
  ],
  "First one wins": ["answers_that_do_not_fit_change_nothing"],
  "At `expiresAt`": [
    "a_request_lapses_at_its_time_and_answers_after_that_settle_nothing",
    "lapses at its time into a receipt that can be dismissed",
  ],
  "A pending request is not an error": ["a_pending_request_is_no_failure"],
  "Text typed into the chat": ["is no answer to what is typed: a message supersedes it"],
  "`input` and `question` carry a schema": ["are validated before they settle, and only declared ones reach the tool"],
  "Approval and tool input on one tool": ["is refused at registration where it is declared beside an approval"],
  "MCP elicitation": ["accepts, declines on the reason declined alone, and cancels on every other"],
  "The answer goes to the server": [
    "that is refused goes to a tool that relays it, and the call ends as the server then answers",
    "a_tool_that_relays_is_told_of_a_no_and_ends_its_call_as_it_then_says",
  ],
  "Secrets are never collected": [
    "must be something that can be asked, or the tool has failed",
    "sends a person to an authorization by their own click, and has no field",
  ],
};

describe("the contract on requests and answers", () => {
  it("has a test for each of its sentences", () => {
    const sources = ["requests.test.mjs", "requests-waitfor.test.mjs", "requests-cards.test.mjs", "../requests.rs"].map(
      (file) => readFileSync(new URL(file, import.meta.url), "utf8"),
    );
    // Those of `waitFor` are named by the rows of their table.
    const isRow = (text, name) =>
      name.includes(": that decides") && new RegExp(`^  "?${name.split(":")[0]}"?: `, "m").test(text);
    const has = (name) =>
      sources.some(
        (text) => text.includes(`fn ${name}()`) || text.includes(`it(${JSON.stringify(name)}`) || isRow(text, name),
      );
    for (const [sentence, names] of Object.entries(SENTENCES)) {
      for (const name of names) assert.ok(has(name), `${sentence}: there is no test "${name}"`);
    }
    const contract = new URL("../../../shared/contract.md", import.meta.url);
    if (!existsSync(contract)) return;
    const [, part] = readFileSync(contract, "utf8").split("## 4. Requests and answers\n");
    let text = part.split("\n## ")[0].replace(/\s+/g, " ").replaceAll("**", "");
    for (const start of Object.keys(SENTENCES)) {
      assert.ok(text.includes(start), `the contract has no sentence that begins "${start}"`);
    }
    // Every sentence begins behind a full stop and a space, or as an item of the list.
    text = text.replaceAll(" - ", ". ");
    const begins = text
      .split(/(?<=[.;`)])\. |\. (?=[A-Z`])|: (?=`Answer)/)
      .map((one) => one.trim())
      .filter(Boolean);
    for (const sentence of begins) {
      const known = Object.keys(SENTENCES).some((start) => sentence.includes(start));
      assert.ok(known, `no test is named for: ${sentence}`);
    }
  });
});
