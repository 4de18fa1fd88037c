/** What goes into a chat and comes out of it beside calls: parts, a history from elsewhere, token counts, events. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch, messagesOf } from "./harness.mjs";
import { calls, checkHistories, event, failure, lastResults, play as playIn, stream, text } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (...given) => playIn(browser, ...given);

describe("a message", () => {
  it("carries pictures and files beside text", async (t) => {
    const { told, requests } = await play(t, [], async ({ agentOf }) => {
      const chat = await agentOf().open("c");
      await chat.send([
        { type: "text", text: "What is this?" },
        { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
        { type: "file", name: "list.pdf", url: "data:application/pdf;base64,JVBERi0=" },
      ]);
      await chat.send("And now?");
      return chat.snapshot().messages;
    });
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      { type: "file", file: { filename: "list.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
    ];
    assert.deepEqual(messagesOf(requests[0]), [{ role: "user", content }]);
    assert.deepEqual(messagesOf(requests[1])[0], { role: "user", content });
    assert.equal(told[0].text, "What is this?");
    assert.deepEqual(
      told[0].parts.map(({ type }) => type),
      ["text", "image", "file"],
    );
    assert.equal("parts" in told[2], false);
    assert.equal(new Set(told.map(({ id }) => id)).size, told.length);
  });

  it("that is none is refused with the part at fault, and nothing is sent", async (t) => {
    const { told, requests } = await play(t, [], async ({ agentOf, rejection }) => {
      const chat = await agentOf().open("c");
      const wrong = [
        "  ",
        [],
        7,
        [{ type: "text", text: 7 }],
        [{ type: "text", text: " " }],
        [{ type: "image", url: "blob:x" }],
        [{ type: "image", url: "data:image/png,raw" }],
        [{ type: "file", url: "https://example.org/a.pdf" }],
        [{ type: "sound", url: "https://example.org/a.mp3" }],
        [null],
      ];
      const errors = [];
      for (const message of wrong) errors.push(await rejection(() => chat.send(message)));
      return { errors, count: chat.snapshot().messages.length };
    });
    assert.deepEqual([told.count, requests.length], [0, 0]);
    for (const error of told.errors) {
      assert.equal(error?.code, "invalid_options");
      assert.match(error.message, /^send\(message\) /);
    }
    assert.match(told.errors[5].message, /part 0: url must be https, or a data: URL in base64/);
  });
});

describe("a chat with a history", () => {
  it("starts from it, calls and results included, and goes on with a valid request", async (t) => {
    const { told, requests } = await play(t, [], async ({ agentOf, memoryStore, make }) => {
      const store = memoryStore();
      const history = [
        { role: "user", content: "What is in the jar?" },
        {
          role: "assistant",
          content: "",
          calls: [
            { tool: "look", arguments: '{"at":1}', result: "12 cookies" },
            { tool: "look", arguments: '{"at":2}', result: "broken", isError: true },
          ],
        },
        { role: "assistant", content: "12 cookies." },
      ];
      const chat = await agentOf({ store }).open("c", { history });
      const opened = chat.snapshot();
      await chat.send("Sure?");
      const again = await agentOf({ store, tools: [make("look")] }).open("c", { history: [] });
      return { opened, again: again.snapshot().messages.length };
    });
    assert.equal(told.opened.status, "idle");
    assert.deepEqual(
      told.opened.messages.map(({ type }) => type),
      ["user", "assistant", "assistant"],
    );
    assert.deepEqual(
      told.opened.messages[1].calls.map(({ state, result }) => [state, result]),
      [
        ["settled", { text: "12 cookies", isError: false }],
        ["settled", { text: "broken", isError: true }],
      ],
    );
    assert.equal(told.again, 5, "a chat that has messages keeps its own");
    checkHistories(requests);
    assert.deepEqual(lastResults(requests), ["12 cookies", "broken"]);
    assert.deepEqual(
      messagesOf(requests[0]).map(({ role }) => role),
      ["user", "assistant", "tool", "tool", "assistant", "user"],
    );
  });

  it("that is wrong does not open, and says which message", async (t) => {
    const { told } = await play(t, [], async ({ agentOf, rejection }) => {
      const agent = agentOf();
      const wrong = [
        "x",
        [7],
        [{ role: "system", content: "x" }],
        [{ role: "user", content: "" }],
        [{ role: "assistant", content: 7 }],
        [{ role: "assistant", content: "", calls: [{ tool: "look", arguments: "{}" }] }],
      ];
      const errors = [];
      for (const history of wrong) errors.push(await rejection(() => agent.open("c", { history })));
      const chat = await agent.open("c");
      return { errors, usable: (await chat.send("Hello")).status };
    });
    for (const error of told.errors) assert.match(`${error?.code} ${error?.message}`, /^invalid_options open: history/);
    assert.match(told.errors[5].message, /history\[0\] calls\[0\] needs tool, arguments and result/);
    assert.equal(told.usable, "done");
  });
});

describe("a context that is too long", () => {
  const tooLong = () => failure(400, '{"error":{"message":"too long","code":"context_length_exceeded"}}');

  it("is shortened by the host, by whole runs, for good", async (t) => {
    const answers = [calls(["look", "{}"]), text("One."), text("Two."), tooLong(), text("Three.")];
    const { told, requests } = await play(
      t,
      answers,
      async ({ agentOf, make, memoryStore }) => {
        const asked = [];
        const options = { tools: [make("look", { effect: "read" })], store: memoryStore() };
        const onContextTooLong = (messages) => {
          asked.push(messages.map(({ type }) => type));
          return 4;
        };
        const chat = await agentOf({ ...options, onContextTooLong }).open("c");
        const texts = [];
        for (const message of ["First.", "Second.", "Third."]) texts.push((await chat.send(message)).text);
        const again = await agentOf(options).open("c");
        await again.send("Fourth.");
        return { texts, asked, shown: again.snapshot().messages.length };
      },
      { expected: /400/ },
    );
    assert.deepEqual(told.texts, ["One.", "Two.", "Three."]);
    assert.deepEqual(told.asked, [["user", "assistant", "assistant", "user", "assistant", "user"]]);
    checkHistories(requests);
    const said = requests.map((request) => messagesOf(request).filter(({ role }) => role === "user"));
    const texts = said.map((messages) => messages.map(({ content }) => content));
    assert.deepEqual(texts.slice(3), [
      ["First.", "Second.", "Third."],
      ["Second.", "Third."],
      ["Second.", "Third.", "Fourth."],
    ]);
    assert.equal(told.shown, 9, "people still see all of it");
  });

  it("that the host cannot shorten is an error, and the chat stays usable", async (t) => {
    const answers = [tooLong(), tooLong(), tooLong(), tooLong()];
    const { told, requests } = await play(
      t,
      answers,
      async ({ agentOf }) => {
        const statuses = [];
        const asks = [undefined, () => undefined, () => 5, () => Promise.reject(new Error("no"))];
        for (const onContextTooLong of asks) {
          const chat = await agentOf({ ...(onContextTooLong && { onContextTooLong }) }).open("c");
          const { status, error } = await chat.send("Long.");
          statuses.push(`${status} ${error.code}`);
          if (statuses.length === asks.length) statuses.push((await chat.retry()).status);
        }
        return statuses;
      },
      { expected: /400/ },
    );
    assert.deepEqual(told, [...Array(4).fill("error model_context_too_long"), "done"]);
    assert.equal(requests.length, 5);
  });
});

describe("what comes in", () => {
  it("shows token counts beside an answer", async (t) => {
    const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
    const counted = stream(event({ content: "Hi." }, "stop"), `data: ${JSON.stringify({ choices: [], usage })}\n\n`);
    const { told } = await play(t, [counted], async ({ agentOf }) => {
      const chat = await agentOf().open("c");
      await chat.send("Hello");
      await chat.send("Again");
      return chat.snapshot().messages;
    });
    assert.deepEqual(told[1].usage, { inputTokens: 12, outputTokens: 3, raw: usage });
    assert.equal("usage" in told[3], false);
  });

  it("comes as events: text, calls, requests, decisions, results and every status, in order", async (t) => {
    const answers = [
      stream(event({ reasoning_content: "Hm." }), event({ content: "Let me " }), event({ content: "see." }, "stop")),
      calls(["look", "{}"], ["eat", '{"n":1}']),
    ];
    const { told } = await play(t, answers, async ({ agentOf, make }) => {
      const chat = await agentOf({ tools: [make("look", { effect: "read" }), make("eat")] }).open("c");
      const seen = [];
      const reading = (async () => {
        for await (const event of chat.events()) {
          const { type, call, text, status, message } = event;
          seen.push([type, call?.id ?? text ?? status ?? message?.text].join(" "));
          if (type === "request") chat.decide(event.request.id, { approve: false, by: "ada" });
          if (seen.at(-1) === "status done" && seen.includes("result r2t1c2")) return;
        }
      })();
      await chat.send("First");
      await chat.send("Second");
      await reading;
      return seen;
    });
    const joined = told.join(", ").replace("text Let me , text see.", "text Let me see.");
    assert.equal(
      joined,
      [
        "message First",
        "status running",
        "reasoning Hm.",
        "text Let me see.",
        "status done",
        "message Second",
        "status running",
        "call r2t1c1",
        "call r2t1c2",
        "request ",
        "status pending",
        "decision r2t1c2",
        "result r2t1c2",
        "status running",
        "result r2t1c1",
        "text The end.",
        "status done",
      ].join(", "),
    );
  });
});
