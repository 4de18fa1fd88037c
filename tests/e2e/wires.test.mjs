/**
 * The four wires end to end: the page and the package are the real ones, the model server is aimock, which speaks all
 * four and is not ours. In between stands a recorder of another origin, so every request also passes a preflight.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { LLMock } from "@copilotkit/aimock";
import { cardOf, launch, openTestPage, press, runsOf, say, serveSite, waitForStatus } from "./harness.mjs";
import { literalsOf, read, resultsOf } from "./strict.mjs";
import { ANSWERS, BOUND, handOn, inTurn, items, optionsOf, POLICY, play, serveModel, WIRES } from "./wires.mjs";

const UPDATE = { id: "call_up", name: "update_page_metadata", arguments: '{"title":"New"}' };
const READ = { id: "call_rd", name: "read_page", arguments: "{}" };
const MAIL = { id: "call_ml", name: "send_mail", arguments: '{"to":"grace@example.org"}' };
const DENIED = `Error: approval_denied (decided_by: run_owner). The approval for tool "${UPDATE.name}" was declined by the user who started this run, the person you are talking to. Nothing was executed. `;

let browser;
let mock;
/** For each wire the denial's literal in the bytes of each request that had it, and the bodies recorded. */
const denials = new Map();
const bodies = new Map();

before(async () => {
  browser = await launch();
  mock = new LLMock({ port: 0, chunkSize: 5 });
  for (const [message, toolCalls] of [
    ["Rename it", [UPDATE]],
    ["Do all three", [READ, UPDATE, MAIL]],
  ]) {
    mock.on({ userMessage: message, hasToolResult: false }, { toolCalls });
    mock.on({ userMessage: message, hasToolResult: true }, { content: "That is the report." });
  }
  mock.on({ userMessage: "And now?" }, { content: "Nothing more." });
  await mock.start();
});

after(async () => {
  await browser.close();
  await mock.stop();
});

/** The test page in front of aimock by way of the recorder. */
async function open(t, wire) {
  const model = await serveModel(t, handOn(mock.url));
  const site = await serveSite(t, { policy: POLICY });
  const settings = { wires: "all", wire: { make: wire.make, options: optionsOf(wire, model.url) } };
  return { model, page: await openTestPage(browser, t, site, settings) };
}

/** What each request says; all of them went where they belong, were accepted, and are valid. */
function check({ api, path, headers, sent }, model, count) {
  assert.equal(model.requests.length, count);
  for (const asked of model.preflights) assert.equal(asked, sent, "no further header is asked for");
  for (const request of model.requests) {
    assert.deepEqual([request.status, request.url], [200, path]);
    for (const [name, value] of Object.entries(headers)) assert.equal(request.headers[name], value);
    assert.equal(request.headers["content-type"], "application/json");
    if (api === "anthropic") {
      assert.equal(request.headers["anthropic-version"], "2023-06-01");
      assert.equal(request.headers["anthropic-dangerous-direct-browser-access"], "true");
    }
    bodies.set(api, [...(bodies.get(api) ?? []), request.body]);
  }
  return model.requests.map(({ body }) => read(api, body));
}

const answerIs = (page, text) => page.locator("#answer", { hasText: text }).waitFor();

for (const wire of WIRES) {
  const { api } = wire;
  describe(`over ${api}`, () => {
    it("an approved call runs once, and the model gets its result", async (t) => {
      const { model, page } = await open(t, wire);
      await say(page, "Rename it");
      await cardOf(page, UPDATE.name).waitFor();
      assert.equal((await runsOf(page)).update_page_metadata, 0, "nothing ran before the decision");
      await press(cardOf(page, UPDATE.name), "Approve");
      await waitForStatus(page, "done");
      assert.equal((await runsOf(page)).update_page_metadata, 1);
      const [, second] = check(wire, model, 2);
      const { text, isError } = second.at(-1);
      assert.deepEqual([JSON.parse(text), isError], [{ tool: UPDATE.name, args: { title: "New" } }, false]);
      await answerIs(page, "That is the report.");
      await say(page, "And now?");
      await answerIs(page, "Nothing more.");
      const [, , third] = check(wire, model, 3);
      assert.deepEqual(third.at(-1), { role: "user", text: "And now?" });
      assert.deepEqual(third.filter(({ role }) => role === "call" || role === "result").length, 2);
    });

    it("a denied call does not run, and the denial has the same bytes three messages later", async (t) => {
      const { model, page } = await open(t, wire);
      await say(page, "Rename it");
      await press(cardOf(page, UPDATE.name), "Deny");
      await waitForStatus(page, "done");
      for (let message = 0; message < 3; message += 1) {
        await say(page, "And now?");
        await page.waitForFunction(
          (count) =>
            window.rig.chat.snapshot().messages.filter(({ text }) => text === "Nothing more.").length === count,
          message + 1,
        );
      }
      assert.equal((await runsOf(page)).update_page_metadata, 0);
      check(wire, model, 5);
      const later = model.requests.slice(1);
      for (const { body } of later) {
        const [{ text, isError }, ...more] = resultsOf(api, body);
        assert.ok(text.startsWith(DENIED), text);
        assert.deepEqual([isError, more.length], [true, 0]);
      }
      denials.set(
        api,
        later.flatMap(({ body }) => literalsOf(body)),
      );
    });

    it("a batch of calls waits for the last decision, then gives one result for each in call order", async (t) => {
      const { model, page } = await open(t, wire);
      await say(page, "Do all three");
      await press(cardOf(page, MAIL.name), "Approve");
      await page.waitForFunction(() => window.rig.chat.snapshot().requests.length === 1);
      assert.deepEqual(await runsOf(page), { read_page: 0, update_page_metadata: 0, send_mail: 0 });
      assert.equal(model.requests.length, 1);
      await press(cardOf(page, UPDATE.name), "Deny");
      await waitForStatus(page, "done");
      assert.deepEqual(await runsOf(page), { read_page: 1, update_page_metadata: 0, send_mail: 1 });
      await say(page, "And now?");
      await answerIs(page, "Nothing more.");

      const [, second, third] = check(wire, model, 3);
      const names = second.filter(({ role }) => role === "call").map(({ name }) => name);
      assert.deepEqual(names, [READ.name, UPDATE.name, MAIL.name]);
      const [looked, denied, mailed] = second.filter(({ role }) => role === "result");
      assert.deepEqual([looked.isError, denied.isError, mailed.isError], [false, true, false]);
      assert.deepEqual(JSON.parse(looked.text), { tool: READ.name, args: {} });
      assert.ok(denied.text.startsWith(DENIED), denied.text);
      assert.deepEqual(JSON.parse(mailed.text), { tool: MAIL.name, args: { to: "grace@example.org" } });
      assert.deepEqual(third.slice(0, second.length), second, "the next message adds to what was said");
    });
  });
}

describe("the wires together", () => {
  it("say a denial in the same bytes", () => {
    const literals = [...denials.values()].flat();
    assert.equal(literals.length, 16, "four requests on each of four wires");
    assert.equal(new Set(literals).size, 1);
  });

  it("find their way from any base URL and model name", async (t) => {
    const cases = [
      ["openaiChat", "https://a.example/v1", "m", "https://a.example/v1/chat/completions"],
      ["openaiChat", "https://a.example/v1//", "a/b", "https://a.example/v1/chat/completions"],
      [
        "openaiChat",
        "https://a.example/openai/deployments/d?api-version=1",
        "m",
        "https://a.example/openai/deployments/d/chat/completions?api-version=1",
      ],
      ["openaiResponses", "https://a.example/v1/", "a/b:free", "https://a.example/v1/responses"],
      ["anthropic", "https://a.example", "m", "https://a.example/messages"],
      ["anthropic", "https://a.example/v1/", "m", "https://a.example/v1/messages"],
      ["gemini", "https://a.example/v1beta", "g", "https://a.example/v1beta/models/g:streamGenerateContent?alt=sse"],
      [
        "gemini",
        "https://a.example/v1beta/",
        "tunedModels/g",
        "https://a.example/v1beta/tunedModels/g:streamGenerateContent?alt=sse",
      ],
      [
        "gemini",
        "https://a.example/v1/projects/p/locations/l?k=1",
        "publishers/google/models/g x",
        "https://a.example/v1/projects/p/locations/l/publishers/google/models/g%20x:streamGenerateContent?k=1&alt=sse",
      ],
    ];
    const model = await serveModel(t, inTurn(ANSWERS.gemini.text("Hello.")));
    const told = await play(
      browser,
      t,
      model,
      async ({ given, agentOf, ...library }) => {
        const asked = [];
        for (const [make, baseUrl, model] of given.cases) {
          const fetch = async (url) => {
            asked.push(url);
            return new Response("{}", { status: 400 });
          };
          const chat = await agentOf({ model: library[make]({ baseUrl, model, fetch }) }).open("c");
          await chat.send("Hello.");
        }
        return asked;
      },
      { given: { cases } },
    );
    assert.deepEqual(
      told,
      cases.map(([, , , url]) => url),
    );
  });

  it("take a vendor's preset, and an option over it", async (t) => {
    const cases = [
      ["openaiChat", { maxTokens: 9 }],
      ["openaiChat", { maxTokens: 9, vendor: "openai" }],
      ["openaiChat", { maxTokens: 9, vendor: "azure", maxTokensName: "max_tokens" }],
      ["openaiResponses", { maxTokens: 9, vendor: "xai" }],
      ["anthropic", { maxTokens: 9, params: { max_tokens: 8 } }],
      ["gemini", { maxTokens: 9, params: { generationConfig: { temperature: 1 } } }],
      ["openaiChat", { vendor: "mistral" }],
      ["openaiChat", { vendor: "mistral", includeUsage: true }],
      ["openaiChat", { vendor: "ollama" }],
      ["openaiChat", { vendor: "moonshot" }],
      ["openaiResponses", { vendor: "deepseek" }],
      ["openaiResponses", { vendor: "deepseek", interleaveResults: false }],
    ];
    const script = async ({ given, agentOf, rejection, ...library }) => {
      const history = [
        { role: "user", content: "Look twice." },
        {
          role: "assistant",
          content: "",
          calls: [
            { tool: "look", arguments: "{}", result: "1" },
            { tool: "look", arguments: "{}", result: "2" },
          ],
        },
      ];
      const bodies = [];
      for (const [make, options] of given.cases) {
        const fetch = async (_, { body }) => {
          bodies.push(JSON.parse(await body.text()));
          return new Response("{}", { status: 400 });
        };
        const model = library[make]({ baseUrl: "/v1", model: "m", fetch, ...options });
        await (await agentOf({ model }).open("c", { history })).send("And now?");
      }
      const unknown = library.openaiResponses({ baseUrl: "/v1", model: "m", vendor: "mistral" });
      return { bodies, wrong: await rejection(() => agentOf({ model: unknown })) };
    };
    const { bodies, wrong } = await play(browser, t, {}, script, { given: { cases } });
    assert.deepEqual(
      bodies.map(({ max_tokens, max_completion_tokens, max_output_tokens, generationConfig }) =>
        JSON.stringify({ max_tokens, max_completion_tokens, max_output_tokens, generationConfig }),
      ),
      [
        '{"max_tokens":9}',
        '{"max_completion_tokens":9}',
        '{"max_tokens":9}',
        '{"max_output_tokens":9}',
        '{"max_tokens":9}',
        '{"generationConfig":{"temperature":1,"maxOutputTokens":9}}',
        ...Array(6).fill("{}"),
      ],
    );
    const [plain, , , , , , mistral, counting, ollama, moonshot, deepseek, together] = bodies;
    const shape = ({ messages }) => messages.map(({ role }) => role).join(" ");
    assert.equal(shape(plain), "user assistant tool tool user");
    assert.equal(shape(mistral), "user assistant tool tool assistant user");
    for (const { id } of mistral.messages[1].tool_calls) assert.match(id, /^[A-Za-z0-9]{9}$/);
    assert.deepEqual(
      [plain, mistral, counting].map(({ stream_options: options }) => options?.include_usage),
      [true, undefined, true],
    );
    assert.deepEqual([plain.messages[1].content, ollama.messages[1].content], [null, ""]);
    assert.deepEqual(
      [plain, moonshot].map(({ messages }) => messages[1].reasoning_content),
      [undefined, "(none)"],
    );
    const order = ({ input }) => input.map(({ type }) => type.replace("function_", "")).join(" ");
    assert.equal(order(deepseek), "message call call_output call call_output message");
    assert.equal(order(together), "message call call call_output call_output message");
    assert.equal(wrong.code, "invalid_options");
    assert.match(wrong.message, /vendor must be one of: openai, .*deepseek/);
  });

  it("pass a chat on: nothing bound goes along, the denial stays, and each gets its own back", async (t) => {
    const model = await serveModel(t, ({ url, body }) => {
      const { api } = WIRES.find(({ path }) => path === url);
      const { role, text } = read(api, body).at(-1);
      const calls = [
        ["look", "{}"],
        ["eat", '{"n":3}'],
        ["fail", "{}"],
      ];
      return role === "user" && text === "Go on." ? ANSWERS[api].calls(...calls) : ANSWERS[api].text("I see.");
    });
    const told = await play(
      browser,
      t,
      model,
      async ({ given: { url, wires }, agentOf, make, memoryStore, runs, ...library }) => {
        const store = memoryStore();
        const tools = [
          make("look", { effect: "read" }),
          make("eat"),
          make("fail", {
            effect: "read",
            run: () => {
              throw new Error("no power");
            },
          }),
        ];
        const ends = [];
        for (const { make: name, base, model, headers } of [...wires, ...wires.slice(0, 1)]) {
          const endpoint = library[name]({ baseUrl: `${url}${base}`, model, headers });
          const agent = agentOf({ store, tools, model: endpoint });
          const chat = await agent.open("c");
          await chat.send("Go on.");
          const [request] = chat.snapshot().requests;
          await (await chat.decide(request.id, { approve: false, by: "ada" })).continuation;
          ends.push((await chat.send("And now?")).status);
          agent.dispose();
        }
        return { ends, runs };
      },
      { given: { wires: WIRES } },
    );
    assert.deepEqual(
      told.ends,
      WIRES.concat(WIRES[0]).map(() => "done"),
    );
    assert.deepEqual(new Set(told.runs), new Set(["look"]));
    assert.equal(model.requests.length, 15);
    const seen = [];
    model.requests.forEach(({ url, body }, place) => {
      const round = Math.floor(place / 3);
      const { api } = WIRES[round % 4];
      assert.equal(url, WIRES[round % 4].path);
      assert.equal(resultsOf(api, body).length, 3 * round + (place % 3 === 0 ? 0 : 3));
      seen.push(...literalsOf(body).filter((literal) => literal.startsWith('"Error: approval_denied')));
      // The first request of a round has nothing of its own yet, but in the last one, which comes back to the first wire.
      assert.equal(body.includes(BOUND), place % 3 > 0 || round === 4, `${place}: ${body}`);
    });
    assert.equal(new Set(seen).size, 1, "the denial has the same bytes whoever reads it");
  });
});

describe("a call that the provider would run", () => {
  const ASKED = {
    type: "mcp_approval_request",
    id: "mcpr_1",
    server_label: "files",
    name: "look",
    arguments: '{"path":"/etc"}',
  };
  const LISTED = { type: "mcp_list_tools", id: "mcpl_1", server_label: "files", tools: [] };
  const WIRE = WIRES.find(({ api }) => api === "openai-responses");

  /** Approves or denies it, beside a call of the page's own tool of that name. */
  async function decide(t, decision) {
    const answers = ANSWERS[WIRE.api];
    const own = { type: "function_call", id: "fc_1", call_id: "call_0", name: "look", arguments: "{}" };
    const model = await serveModel(t, inTurn(items(LISTED, own, ASKED), answers.text("I see.")));
    const told = await play(
      browser,
      t,
      model,
      async ({ given: { url, decision }, agentOf, make, runs, openaiResponses }) => {
        const serverTools = [{ type: "mcp", server_label: "files", server_url: "https://files.example/mcp" }];
        const endpoint = openaiResponses({ baseUrl: `${url}/v1`, model: "gpt-x", serverTools });
        const chat = await agentOf({ model: endpoint, tools: [make("look", { effect: "read" })] }).open("c");
        const approvals = document.querySelector("countersign-approvals");
        approvals.chat = chat;
        await chat.send("Look.");
        const [request] = chat.snapshot().requests;
        const card = [...approvals.shadowRoot.querySelectorAll("[role=group]")].map((group) => group.textContent);
        const before = [...runs];
        await (await chat.decide(request.id, { by: "ada", ...decision })).continuation;
        const end = await chat.send("And now?");
        const { calls } = chat.snapshot().messages.find(({ calls }) => calls?.length);
        return { request, card, before, end, runs, calls, log: await chat.export({ privacy: "full" }) };
      },
      { given: { decision } },
    );
    return { ...told, requests: model.requests };
  }

  const decidedIn = (log) =>
    log
      .split("\n")
      .filter(Boolean)
      .map(JSON.parse)
      .find(({ type }) => type === "tool.call.decided");

  it("asks with the server's name, and approved runs nothing here", async (t) => {
    const told = await decide(t, { approve: true });
    assert.equal(told.card.length, 1);
    assert.match(told.card[0], /files/);
    assert.match(told.card[0], /\/etc/);
    assert.deepEqual(told.before, [], "nothing ran while it waited");
    assert.deepEqual([told.end.status, told.runs], ["done", ["look"]], "the page's own call ran, once");
    const [first, second, third] = told.requests.map(({ body }) => read(WIRE.api, body));
    assert.equal(first.length, 1);
    for (const said of [second, third]) {
      const approvals = said.filter(({ role }) => role === "approval");
      assert.deepEqual(approvals, [{ role: "approval", id: "mcpr_1", approve: true, text: undefined }]);
    }
    const sent = JSON.parse(told.requests[1].body);
    assert.deepEqual(sent.input.slice(1, 4), [LISTED, sent.input[2], ASKED], "its items go back as they came");
    assert.deepEqual(sent.tools.at(-1), {
      type: "mcp",
      server_label: "files",
      server_url: "https://files.example/mcp",
    });
    const { decided_by: decidedBy, decider, approved } = decidedIn(told.log);
    assert.deepEqual([decidedBy, decider, approved], ["run_owner", "ada", true]);
  });

  it("denied says so with the reason, to the provider and in the record", async (t) => {
    const told = await decide(t, { approve: false, by: "grace" });
    assert.deepEqual([told.end.status, told.runs], ["done", ["look"]]);
    const texts = told.requests.slice(1).map(({ body }) => {
      const [{ approve, text }, ...more] = read(WIRE.api, body).filter(({ role }) => role === "approval");
      assert.deepEqual([approve, more], [false, []]);
      return text;
    });
    assert.match(texts[0], /^Error: approval_denied \(decided_by: other_user\)\. .*Nothing was executed\. /);
    assert.equal(texts[1], texts[0], "the same bytes on the next message");
    assert.deepEqual([told.calls[1].outcome, told.calls[1].decidedBy], ["approval_denied", "other_user"]);
    const { decided_by: decidedBy, decider, approved } = decidedIn(told.log);
    assert.deepEqual([decidedBy, decider, approved], ["other_user", "grace", false]);
  });
});

/**
 * The types by which each provider's own client describes its requests. None of the clients validates a body when it
 * runs: their types are all they say. `@google/genai` has no type for the body, which it builds from options of its own,
 * but its parts have the body's names.
 */
const TYPES = {
  "openai-chat": `import type { ChatCompletionCreateParamsStreaming as Body } from "openai/resources/chat/completions";`,
  "openai-responses": `import type { ResponseCreateParamsStreaming as Body } from "openai/resources/responses/responses";`,
  anthropic: `import type { MessageCreateParamsStreaming as Body } from "@anthropic-ai/sdk/resources/messages";`,
  gemini: `import type { Content, GenerationConfig, Tool } from "@google/genai";
type Body = { contents: Content[]; systemInstruction?: Content; tools?: Tool[]; generationConfig?: GenerationConfig };`,
};

describe("the requests", () => {
  it("fit the types of each provider's own client", async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), "countersign-types-"));
    t.after(() => rm(folder, { recursive: true }));
    const modules = fileURLToPath(new URL("../../www/node_modules", import.meta.url));
    await symlink(modules, path.join(folder, "node_modules"), "junction");
    await writeFile(path.join(folder, "package.json"), '{"type":"module"}');
    for (const { api } of WIRES) {
      assert.equal(bodies.get(api)?.length, 13, `the requests of the tests above over ${api}`);
      const checks = bodies.get(api).map((body) => `(${body}) satisfies Body;`);
      // A body that no server takes must not pass, or the check says nothing.
      checks.push(
        `// @ts-expect-error\n(${bodies.get(api)[0].replace(/"role":"user"/, '"role":"nobody","x":1')}) satisfies Body;`,
      );
      await writeFile(path.join(folder, `${api}.ts`), `${TYPES[api]}\n${checks.join("\n")}\n`);
    }
    const tsc = path.join(modules, "typescript", "bin", "tsc");
    const options = "--noEmit --strict --skipLibCheck --target es2022 --module nodenext --lib es2022,dom";
    const files = WIRES.map(({ api }) => `${api}.ts`);
    const args = [tsc, ...options.split(" "), ...files];
    const said = await promisify(execFile)(process.execPath, args, { cwd: folder }).catch((error) => error);
    assert.deepEqual([said.code, said.stdout, said.stderr], [undefined, "", ""]);
  });
});
