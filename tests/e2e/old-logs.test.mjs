/**
 * Logs of older versions through the whole package: what the model is sent over them, what a page sees, and how a log
 * leaves a store and comes into another.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { launch, messagesOf, rawResultsOf } from "./harness.mjs";
import { calls, checkHistories, play as playIn } from "./scripted.mjs";

const log = (name) => readFileSync(new URL(`../fixtures/logs/${name}.jsonl`, import.meta.url), "utf8");
const linesOf = (text) => text.split("\n").filter((line) => line !== "");

/** What the model reads of an old denial, byte for byte, as a JSON string literal of the request. */
const OLD_DENIAL = String.raw`"{\"status\":\"denied\",\"action\":\"send_mail\",\"reason_code\":\"approval.denied\"}"`;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (t, script, given, answers = []) => playIn(browser, t, answers, script, { given });

describe("an old denial", () => {
  for (const name of ["old-denial", "old-denial-of-a-request", "ends-behind-an-old-denial", "null"]) {
    it(`is sent from its recorded facts with every next message: ${name}`, async (t) => {
      const lines = linesOf(log(name));
      const { told, requests } = await play(
        t,
        async ({ agentOf, given }) => {
          // A page's own store, with the two methods it needs.
          const log = [...given];
          const store = {
            load: async (_, from = 0) => log.slice(from),
            append: async (_, seq, lines) => {
              if (log.length !== seq) throw new Error("somebody else was first");
              log.push(...lines);
            },
          };
          const chat = await agentOf({ store }).open("mail-1");
          const ends = [await chat.send("And now?"), await chat.send("And then?")];
          return { log, ends };
        },
        lines,
      );
      assert.deepEqual(
        told.ends.map(({ status }) => status),
        ["done", "done"],
      );
      assert.equal(requests.length, 2);
      checkHistories(requests);
      for (const request of requests) {
        assert.deepEqual(rawResultsOf(request), [OLD_DENIAL]);
        const roles = messagesOf(request).map(({ role }) => role);
        assert.deepEqual(roles.slice(0, 3), ["user", "assistant", "tool"]);
      }
      assert.deepEqual(told.log.slice(0, lines.length), lines, "no stored line is rewritten");
    });
  }

  it("sends a refusal's item unchanged", async (t) => {
    const { requests } = await play(
      t,
      async ({ agentOf, memoryStore, given }) => {
        const store = memoryStore();
        await store.append("mail-1", 0, given, "");
        await (await agentOf({ store }).open("mail-1")).send("And now?");
      },
      linesOf(log("refusal-item-unchanged")),
    );
    assert.deepEqual(rawResultsOf(requests[0]), [JSON.stringify("Refused: mail is off. é\n")]);
  });

  it("shows as settled by nobody known: snapshot, pending list, card, export", async (t) => {
    const text = log("old-denial-beside-a-pending-request");
    const { told, requests, page } = await play(
      t,
      async ({ agentOf, memoryStore, rejection, given }) => {
        const store = memoryStore();
        await store.append("mail-1", 0, given.trimEnd().split("\n"), "");
        const agent = agentOf({ store });
        const chat = await agent.open("mail-1");
        document.querySelector("countersign-approvals").chat = chat;
        const late = await rejection(() => chat.decide("q1", { approve: true, by: "ada" }));
        return { snapshot: chat.snapshot(), late, exported: await agent.exportLog("mail-1") };
      },
      text,
    );
    assert.equal(requests.length, 0);
    assert.equal(told.snapshot.status, "pending");
    assert.deepEqual(
      told.snapshot.requests.map(({ id }) => id),
      ["q2"],
    );
    const { result, ...call } = told.snapshot.messages[1].calls[1];
    assert.deepEqual(call, {
      id: "r1t1c2",
      tool: "send_mail",
      arguments: '{"to":"grace@example.org"}',
      state: "settled",
      requestId: "q1",
      outcome: "approval.denied",
      executed: null,
    });
    assert.deepEqual(result, { text: JSON.parse(OLD_DENIAL), isError: true });
    assert.equal(told.late.code, "conflict");
    assert.equal(told.exported, text);

    const receipt = page.locator("[part=receipt]:visible");
    await receipt.waitFor();
    assert.match(await receipt.textContent(), /^An older record says that this was declined, but not by whom\./);
    assert.equal(await page.getByRole("button", { name: "Deny", exact: true }).count(), 1, "only q2 waits");
  });
});

describe("a log that does not fit", () => {
  const CASES = [
    ["absent", 2, /the field result_item is missing/],
    ["empty-name", 2, /the field name is missing/],
    ["version-3", 2, /tool\.call\.denied is at version 3/],
    ["completed-without-item", 4, /the field result_item is missing/],
    ["cut-in-its-last-line", 3, /the line is cut off/],
  ];
  for (const [name, seq, problem] of CASES) {
    it(`opens nothing, sends nothing, and can be exported: ${name}`, async (t) => {
      const text = log(name);
      const { told, requests } = await play(
        t,
        async ({ agentOf, memoryStore, rejection, given }) => {
          const lines = given.split("\n").filter((line) => line !== "");
          const store = memoryStore();
          await store.append("mail-1", 0, lines, "");
          const agent = agentOf({ store });
          const opened = await rejection(() => agent.open("mail-1"));
          const other = memoryStore();
          const imported = await rejection(() => agentOf({ store: other }).import(given));
          return {
            opened,
            imported,
            exported: await agent.exportLog("mail-1"),
            kept: (await store.load("mail-1")).length === lines.length,
            written: await other.list(),
          };
        },
        text,
      );
      for (const { code, message } of [told.opened, told.imported]) {
        assert.equal(code, "log_corrupt");
        assert.ok(message.startsWith(`The log does not fit at event ${seq}: `), message);
        assert.match(message, problem);
      }
      assert.equal(told.exported.trimEnd(), text.trimEnd());
      assert.ok(told.kept);
      assert.deepEqual(told.written, []);
      assert.equal(requests.length, 0);
    });
  }
});

describe("import", () => {
  it("takes a chat that waits into another store, where it is decided", async (t) => {
    const { told, requests } = await play(
      t,
      async ({ agentOf, memoryStore, make, runs }) => {
        const tools = [make("eat")];
        const first = agentOf({ tools, store: memoryStore() });
        await (await first.open("c")).send("Eat.");
        const text = await first.exportLog("c");

        const second = agentOf({ tools, store: memoryStore() });
        const chat = await second.import(text.replaceAll("\n", "\r\n\r\n"));
        const pending = await second.pending();
        const same =
          JSON.stringify(chat.snapshot().messages) === JSON.stringify((await first.open("c")).snapshot().messages);
        const again = await second.exportLog("c");
        const { continuation } = await chat.decide(pending[0].request.id, { approve: true, by: "ada" });
        const { status } = await continuation;
        return { id: chat.id, chats: pending.map(({ chat }) => chat), same, unchanged: again === text, status, runs };
      },
      null,
      [calls(["eat", '{"n":1}'])],
    );
    assert.deepEqual(told, { id: "c", chats: ["c"], same: true, unchanged: true, status: "done", runs: ["eat"] });
    assert.equal(requests.length, 2);
    checkHistories(requests);
  });

  it("refuses a chat that is there, in the store or open here, and what is no text", async (t) => {
    const { told } = await play(
      t,
      async ({ agentOf, memoryStore, rejection, given }) => {
        const store = memoryStore();
        const agent = agentOf({ store });
        const both = await Promise.allSettled([agent.import(given), agent.import(given)]);
        const stored = await rejection(() => agentOf({ store }).import(given));
        const fresh = agentOf({ store: memoryStore() });
        await fresh.open("mail-1");
        const open = await rejection(() => fresh.import(given));
        return {
          both: both.map(({ status, reason }) => reason?.code ?? status),
          stored,
          open,
          empty: await rejection(() => fresh.import("\n\n")),
          none: await rejection(() => fresh.import(undefined)),
          events: (await agent.chats()).map(({ id, events }) => [id, events]),
          nothing: await fresh.exportLog("mail-2"),
        };
      },
      log("old-denial"),
    );
    assert.deepEqual(told.both, ["fulfilled", "conflict"]);
    for (const { code, message } of [told.stored, told.open]) {
      assert.equal(code, "conflict");
      assert.match(message, /^There is a chat "mail-1" already: /);
    }
    assert.equal(told.empty.code, "log_corrupt");
    assert.equal(told.none.code, "invalid_options");
    assert.deepEqual(told.events, [["mail-1", linesOf(log("old-denial")).length]]);
    assert.equal(told.nothing, "");
  });
});
