/**
 * The boundary against texts: what a model, a tool or a provider writes is shown as text, whatever it is, or it is
 * refused. Under the strictest policy, in each browser.
 */
import assert from "node:assert/strict";
import { it } from "node:test";
import { cardsOf, drawn, inEachBrowser, pressFirst } from "./boundary.mjs";
import { waitFor } from "./browsers.mjs";
import { toolMessagesOf } from "./harness.mjs";
import { DISGUISE, HIDDEN, isPlain, MARKUP, ODD_KEYS, REFUSED, visible } from "./payloads.mjs";
import { calls, checkHistories, event, stream, text } from "./scripted.mjs";
import { items } from "./wires.mjs";

/** A list in parts of so many. */
const inParts = (list, size) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, part) => list.slice(part * size, (part + 1) * size));

const HOSTILE = [...MARKUP, ...DISGUISE];

/** That, and everything that cannot be seen. */
const SAID = [
  ...HOSTILE,
  ...inParts(HIDDEN, 160).map((codes) => codes.map((code) => `${String.fromCodePoint(code)}.`).join("")),
];

/** All elements that a card may be made of. */
const TAGS =
  /^(div|span|i|code|dl|dt|dd|ul|ol|li|p|em|strong|q|small|label|legend|fieldset|input|textarea|select|option|button|a|details|summary|bdi|table|caption|thead|tbody|tr|td|th|h\d|svg|path|time|del|ins|mark|pre)$/;

/** Attributes that begin something where they have a hostile value. */
const ACTS = /^(on\w*|style|src\w*|srcdoc|action|formaction|href|data|ping|poster|background|is|slot)=/i;

/** What is drawn holds no element, attribute or character but a card's own, and no more nodes than this for each card. */
async function checkDrawn(page, { nodes = 150, links = [] } = {}) {
  const drawn = await cardsOf(page);
  assert.deepEqual(
    drawn.tags.filter((tag) => !TAGS.test(tag)),
    [],
  );
  const acting = drawn.attributes.filter(
    (attribute) => ACTS.test(attribute) && !/^style=min-block-size:/.test(attribute),
  );
  assert.deepEqual(
    acting,
    links.map((link) => `href=${link}`),
  );
  const raw = [...drawn.texts, ...drawn.attributes].find((said) => !isPlain(said)) ?? "";
  assert.equal(visible(raw), "", "what cannot be seen is shown as a token");
  assert.ok(drawn.count <= nodes * Math.max(drawn.cards.length, 1), `${drawn.count} nodes`);
  return drawn;
}

/** How often a text stands in another. */
const countOf = (whole, part) => whole.split(part).length - 1;

/** The card of this index says the text in so many places at least, as a person can see it. */
function checkSaid({ cards }, said, places) {
  for (const [index, one] of said.entries()) {
    const shown = visible(one);
    assert.ok(countOf(cards[index], shown) >= places, `${shown}\nstands ${places} times in\n${cards[index]}`);
  }
}

const waiting = (page, count) => waitFor(page, (count) => window.chat?.snapshot().requests.length === count, count);

inEachBrowser(({ open }) => {
  it("boundary/xss: whatever stands in titles, reasons, arguments and previews is text", async (t) => {
    // As a value, in a list and in a table.
    const args = (one) => JSON.stringify({ [one]: one, list: [one, one], table: [{ [one]: one }, { [one]: one }] });
    const turn = calls(...SAID.map((one, place) => [`t${place}`, args(one)]));
    const { page, site, play, quiet } = await open(t, { model: [turn] });
    await play(async ({ agentOf, make, ask, given }) => {
      const tools = given.map((one, place) => {
        const preview = () => ({ lines: [one], current: { [one]: `${one} before`, list: [one] } });
        return make(`t${place}`, { title: one, annotations: { title: one, [one]: one }, preview });
      });
      const rules = [({ tool }) => ask(given[Number(tool.slice(1))])];
      window.chat = await agentOf({ tools, rules }).open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send("Go.");
    }, SAID);
    await waiting(page, SAID.length);
    checkSaid(await checkDrawn(page), SAID, 4);
    const views = await page.evaluate(() => window.chat.snapshot().requests.map(({ view }) => view));
    for (const view of views) assert.ok(isPlain(JSON.stringify(view)), "the view as data has the tokens too");
    await pressFirst(page, "deny");
    await waiting(page, SAID.length - 1);
    await quiet();
    assert.equal(site.requests.length, 1);
  });

  it("boundary/xss: whatever stands in prompts, forms, choices and addresses is text", async (t) => {
    const turn = calls(...SAID.map((_, place) => ["ask", JSON.stringify({ place })]));
    const { page, site, play, quiet } = await open(t, { model: [turn] });
    await play(async ({ agentOf, make, pendingRequest, given }) => {
      const spec = (one, place) => {
        if (place % 3 === 1) {
          const url = `https://example.org/${one}?${one}#${one}`;
          return { kind: "authorization", prompt: one, url };
        }
        if (place % 3 === 2) return { kind: `kind ${one}`, prompt: one, data: { [one]: one } };
        const choice = { type: "string", title: one, enum: [one], enumNames: [one], default: one };
        const properties = {
          [one]: { type: "string", title: one, description: one, default: one, pattern: one },
          choice,
          choices: { type: "array", title: one, items: choice, default: [one] },
          number: { type: "number", title: one, default: one },
          flag: { type: "boolean", title: one, default: one },
        };
        return { kind: "input", prompt: one, data: { schema: { type: "object", properties } } };
      };
      const run = ({ place }) => pendingRequest(spec(given[place], place));
      window.chat = await agentOf({ tools: [make("ask", { effect: "read", run })] }).open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send("Go.");
    }, SAID);
    await waiting(page, SAID.length);
    const { requests } = await page.evaluate(() => window.chat.snapshot());
    const links = requests.map(({ url }) => url).filter(Boolean);
    for (const link of links) assert.match(link, /^https:\/\/example\.org\/[!-~]*$/);
    const found = await checkDrawn(page, { nodes: 150, links });
    checkSaid(found, SAID, 1);
    checkSaid(
      { cards: found.cards.filter((_, place) => place % 3 === 0) },
      SAID.filter((_, place) => place % 3 === 0),
      7,
    );
    await pressFirst(page, "deny");
    await waiting(page, SAID.length - 1);
    await quiet();
    assert.equal(site.requests.length, 1);
  });

  it("boundary/xss: an address that is none of the web's is refused", async (t) => {
    const { play, quiet } = await open(t);
    const urls = [
      "javascript:alert(1)",
      "JAVASCRIPT:alert(1)",
      " java\nscript:alert(1)",
      "data:text/html,<script>alert(1)</script>",
      "blob:https://example.org/1",
      "file:///etc/passwd",
      "http://example.org/",
      "//example.org/",
      "/pwned",
      "https://ada:sesame@example.org/",
      "https://bank.example@evil.example/",
      "https://",
      "",
    ];
    const codes = await play(
      ({ pendingRequest, rejection, given }) =>
        Promise.all(
          given.map(
            async (url) => (await rejection(() => pendingRequest({ kind: "authorization", prompt: "x", url })))?.code,
          ),
        ),
      urls,
    );
    assert.deepEqual(
      codes,
      urls.map(() => "invalid_request"),
    );
    await quiet();
  });

  it("boundary/xss: a provider's names of servers and tools are text", async (t) => {
    const asked = SAID.map((one, place) => ({
      ...{ type: "mcp_approval_request", id: `mcpr_${place}`, arguments: "{}" },
      ...{ server_label: one, name: one },
    }));
    const route = (request, response) => {
      if (!request.url.startsWith("/v1/responses")) return false;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(items(...asked).chunks.join(""));
      return true;
    };
    const { page, play, quiet } = await open(t, { settings: { wires: "all" }, route });
    await play(async ({ agentOf, openaiResponses }) => {
      const serverTools = [{ type: "mcp", server_label: "files", server_url: "https://files.example/mcp" }];
      const model = openaiResponses({ baseUrl: "/v1", model: "m", serverTools });
      window.chat = await agentOf({ model }).open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send("Go.");
    });
    await waiting(page, SAID.length);
    checkSaid(await checkDrawn(page), SAID, 2);
    await quiet();
  });

  it("boundary/xss: hostile results, errors, notes, names and texts draw nothing", async (t) => {
    const said = inParts(HOSTILE, 10).map((part) => part.join("\n"));
    const made = said.flatMap((_, place) => [
      ["look", JSON.stringify({ place })],
      ["fail", JSON.stringify({ place })],
    ]);
    const model = [
      ...said.map((one) => stream(event({ content: one, reasoning_content: one }), event({}, "stop"))),
      calls(...made, ["eat", "{}"], ...HOSTILE.map((one) => [one, one])),
    ];
    const { page, site, play, quiet } = await open(t, { model });
    const told = await play(async ({ agentOf, make, lastCalls, given }) => {
      const look = make("look", { effect: "read", run: ({ place }) => given[place] });
      const fail = make("fail", { effect: "read", run: ({ place }) => Promise.reject(new Error(given[place])) });
      const chat = await agentOf({ tools: [look, fail, make("eat")] }).open("c");
      window.chat = chat;
      const element = document.querySelector("countersign-approvals");
      element.chat = chat;
      for (const one of given) await chat.send(one);
      await chat.send("Go.");
      const [{ id }] = chat.snapshot().requests;
      const note = given.join("").slice(0, 500);
      await (await chat.decide(id, { approve: false, by: given[0], note })).continuation;
      return lastCalls(chat).map(({ outcome = null, decidedBy = null }) => [outcome, decidedBy]);
    }, said);
    assert.deepEqual(told, [
      ...said.flatMap(() => [
        [null, null],
        ["tool_failed", null],
      ]),
      ["approval_denied", "other_user"],
      ...HOSTILE.map(() => ["tool_unavailable", null]),
    ]);
    const { cards } = await checkDrawn(page);
    assert.equal(cards.length, 1);
    await quiet();
    checkHistories(site.requests);
  });

  it("boundary/huge: arguments that cannot be shown faithfully, or read by a person, are refused; the page goes on", async (t) => {
    const pieces = (whole) => {
      const delta = (tool_calls) => event({ tool_calls });
      const start = delta([{ index: 0, id: "call_0", function: { name: "eat", arguments: "" } }]);
      const size = 1 << 16;
      const count = Math.ceil(whole.length / size);
      const parts = Array.from({ length: count }, (_, part) => whole.slice(part * size, (part + 1) * size));
      const rest = parts.map((part) => delta([{ index: 0, function: { arguments: part } }]));
      return stream(start, ...rest, event({}, "tool_calls"), "data: [DONE]\n\n");
    };
    const kinds = Object.keys(REFUSED);
    const model = Object.values(REFUSED).flatMap((refused) => [pieces(refused), text("I see.")]);
    const { page, site, play, quiet } = await open(t, { model });
    const told = await play(async ({ agentOf, make, runs, lastCalls, given }) => {
      const agent = agentOf({ tools: [make("eat")] });
      let last = performance.now();
      let longest = 0;
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        port2.postMessage(null);
      };
      port2.postMessage(null);
      const ends = [];
      for (const [place, kind] of given.entries()) {
        const chat = await agent.open(`c${place}`);
        const element = document.querySelector("countersign-approvals");
        element.chat = chat;
        longest = 0;
        const { status } = await chat.send("Go.");
        const [{ outcome, executed }] = lastCalls(chat);
        ends.push([kind, status, outcome, executed, chat.snapshot().requests.length, Math.round(longest)]);
      }
      port1.close();
      return { ends, runs, polluted: {}.polluted ?? null };
    }, kinds);
    for (const [place, end] of told.ends.entries()) {
      assert.deepEqual(end.slice(0, 5), [kinds[place], "done", "arguments_invalid", false, 0]);
      // As long as a test waits for anything: work that grows with the square of the size would take minutes.
      assert.ok(end[5] < 15_000, `${end[0]}: the page stood still for ${end[5]} ms`);
    }
    assert.deepEqual([told.runs, told.polluted], [[], null]);
    for (const [place, kind] of kinds.entries()) {
      const [{ content }] = toolMessagesOf(site.requests[2 * place + 1]);
      assert.match(content, /^Error: arguments_invalid\. /, kind);
      assert.ok(content.length < 1_000, "what the model is told is short");
    }
    checkHistories(site.requests);
    await checkDrawn(page);
    await quiet();
  });

  it("boundary/huge: names that objects have a meaning for are arguments like others", async (t) => {
    const { page, play, quiet } = await open(t, { model: [calls(["eat", ODD_KEYS])] });
    const got = await play(async ({ agentOf, make, given }) => {
      let got;
      const run = (args) => {
        got = JSON.stringify(args);
        return Object.assign({}, args).polluted === undefined;
      };
      const chat = await agentOf({
        tools: [make("eat", { run })],
        rules: [({ args }) => void Object.assign({}, args)],
      }).open("c");
      window.chat = chat;
      document.querySelector("countersign-approvals").chat = chat;
      await chat.send("Go.");
      const { requests } = chat.snapshot();
      await (await chat.decide(requests[0].id, { approve: true, by: "ada" })).continuation;
      return { got, given, rows: requests[0].view.arguments.length };
    }, ODD_KEYS);
    const { toJSON: _, ...rest } = JSON.parse(ODD_KEYS);
    assert.deepEqual(JSON.parse(got.got), JSON.parse(ODD_KEYS));
    assert.equal(rest.length, -1);
    await checkDrawn(page);
    await quiet();
  });

  it("boundary/huge: the largest arguments that a person may be asked about leave the page usable", async (t) => {
    const many = JSON.stringify({ a: Array.from({ length: 9_990 }, (_, n) => n) });
    const long = JSON.stringify({ a: "word ".repeat(200_000) });
    const deep = `{"a":${"[".repeat(63)}1${"]".repeat(63)}}`;
    const { page, play, quiet } = await open(t, { model: [calls(["eat", many], ["eat", long], ["eat", deep])] });
    await play(async ({ agentOf, make }) => {
      window.chat = await agentOf({ tools: [make("eat")] }).open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send("Go.");
    });
    await waiting(page, 3);
    await drawn(page);
    const { cards, count } = await cardsOf(page);
    assert.equal(cards.length, 3);
    assert.ok(count < 60_000, `${count} nodes`);
    await pressFirst(page, "deny");
    await waiting(page, 2);
    await quiet();
  });
});
