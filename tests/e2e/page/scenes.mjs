/**
 * Cards in every state that a page can bring about, one scene after another, in the element of the test page. All data is
 * made of words that begin with zq, so that a test can tell it from what the package says.
 *
 * The model has to be `rounds` of ../rounds.mjs.
 */

const URL = "https://zq.example/zqauth?zqclient=1";
const LONG = "Zq1 zq2 zq3\nzq4  zq5";
const ARGUMENTS = {
  zqtext: "zqvalue",
  zqempty: "",
  "": "zqunnamed",
  zqlong: LONG,
  zqnumber: -5,
  zqnull: null,
  zqflag: true,
  zqlist: [],
  zqmap: {},
  zqdeep: { zqinner: [{ zqleaf: "zqleafvalue" }] },
};

/** The fields of a form, each with what a person fills in to be told of a problem; null is a click, "" nothing. */
export const FIELDS = {
  zqrequired: [{ type: "string", description: "Zqhint." }, ""],
  zqnumber: [{ type: "number" }, "1e"],
  zqmail: [{ type: "string", format: "email" }, "zq"],
  zqurl: [{ type: "string", format: "uri" }, "zq"],
  zqday: [{ type: "string", format: "date" }, "11"],
  zqwhole: [{ type: "integer" }, "1.5"],
  zqleast: [{ type: "integer", minimum: 2000 }, "1"],
  zqmost: [{ type: "integer", maximum: 2 }, "3"],
  zqmore: [{ type: "number", exclusiveMinimum: 2.5 }, "2"],
  zqless: [{ type: "number", exclusiveMaximum: 2 }, "2"],
  zqtimes: [{ type: "integer", multipleOf: 2 }, "3"],
  zqlonger: [{ type: "string", minLength: 3 }, "zq"],
  zqshorter: [{ type: "string", format: "uri", maxLength: 3 }, "zq:zq"],
  zqpattern: [{ type: "string", pattern: "^zqx$" }, "zq"],
  zqany: [{ type: "string", anyOf: [{ minLength: 3 }, { maxLength: 1 }] }, "zq"],
  zqone: [{ type: "string", allOf: [{ oneOf: [{ minLength: 1 }, { maxLength: 9 }] }] }, "zq"],
  zqnot: [{ type: "string", not: { const: "zq" } }, "zq"],
  zqmany: [{ type: "array", items: { type: "string", enum: ["zqa", "zqb"] }, minItems: 2 }, null],
  zqfew: [{ type: "array", items: { type: "string", enum: ["zqc", "zqd"] }, maxItems: 0 }, null],
};

const FREE = {
  zqchoice: { type: "string", enum: ["zqe", "zqf"] },
  zqcheck: { type: "boolean" },
  zqmoment: { type: "string", format: "date-time" },
};

/**
 * @param {any} kit of kit.mjs
 * @param {HTMLElement & { chat: any, by: any }} element
 * @param {any} strings what the element says; undefined leaves it
 * @param {string[]} [old] logs of older versions
 */
export function scenes(kit, element, strings, old = []) {
  const { agentOf, make, allow, ask, refuse, memoryStore, pendingRequest, until } = kit;
  let opened = 0;
  element.strings = strings;

  async function open(options, rounds) {
    opened += 1;
    element.by = undefined;
    const chat = await agentOf(options).open(`zq${opened}`);
    element.chat = chat;
    // What stands there at first is no news.
    await new Promise((drawn) => requestAnimationFrame(drawn));
    const sent = rounds && chat.send(JSON.stringify(rounds));
    if (sent) await Promise.race([sent, until(chat, ({ requests }) => requests.length > 0)]);
    return chat;
  }

  const requestFor = (chat, tool) => chat.snapshot().requests.find(({ view }) => view.tool === tool);
  const all = (...tools) => [tools.map((tool) => [tool, "{}"])];

  /** A chat whose one tool asks for `spec` as it runs. */
  function asking(spec, { relay, ...options } = {}) {
    const run = (_, { answer }) => (answer ? "zqdone" : pendingRequest(spec));
    const tool = make("zq_ask", { title: "Zq zqasks", effect: "read", run, ...(relay && { relay }) });
    return open({ tools: [tool], ...options }, all("zq_ask"));
  }

  const form = (properties, required = [], more = {}) => ({
    kind: "input",
    prompt: "Zqprompt?",
    data: { schema: { type: "object", properties, required, ...more } },
  });
  const field = form({ zqfield: { type: "string" } });

  /** A page that dies as its tool runs, and the one that opens the chat after it. */
  async function lost() {
    const store = memoryStore();
    const dying = {
      ...store,
      list: store.list?.bind(store),
      load: store.load.bind(store),
      append: (chat, seq, lines, head) => {
        const end = lines.findIndex((line) => JSON.parse(line).type === "tool.call.completed");
        const kept = end < 0 ? lines : lines.slice(0, end);
        const stored = kept.length > 0 ? store.append(chat, seq, kept, head) : Promise.resolve();
        return end < 0 ? stored : stored.then(() => new Promise(() => {}));
      },
    };
    let started = () => {};
    const starts = new Promise((done) => {
      started = done;
    });
    const run = () => started() ?? "zqran";
    const tools = [make("zq_lost", { effect: "read", run })];
    opened += 1;
    const before = await agentOf({ store: dying, tools }).open(`zq${opened}`);
    before.send(JSON.stringify(all("zq_lost")));
    await starts;
    await new Promise((later) => setTimeout(later));
    const chat = await agentOf({ store, tools: [make("zq_lost", { effect: "read", run: () => "zqagain" })] }).open(
      `zq${opened}`,
    );
    element.chat = chat;
    chat.resume();
    await until(chat, ({ requests }) => requests.length > 0);
    return chat;
  }

  async function decided(chat, approve, by) {
    const [{ id }] = chat.snapshot().requests;
    await (await chat.decide(id, { approve, by })).continuation;
    return chat;
  }

  return {
    "every reason": async () => {
      const rule = ({ tool }) => {
        if (tool === "zq_threw") throw new Error("zqerror");
        if (tool === "zq_promise") return Promise.resolve();
        return tool === "zq_nothing" ? "zq" : undefined;
      };
      const failing = () => {
        throw new Error("zqproblem");
      };
      const tools = [
        make("zq_outside", { effect: "read", untrusted: true }),
        make("zq_write", { title: "Zq zqwrites", preview: () => ["zqline", "zqnext"] }),
        make("zq_undeclared", { effect: undefined, preview: failing }),
        make("zq_host", { preview: () => 7 }),
        ...["zq_threw", "zq_promise", "zq_nothing", "zq_tainted"].map((name) => make(name)),
      ];
      const rules = [allow("zq_tainted"), ask("zq_host", "Zqreason."), rule];
      const asked = ["zq_undeclared", "zq_host", "zq_threw", "zq_promise", "zq_nothing", "zq_tainted"];
      const write = ["zq_write", JSON.stringify(ARGUMENTS)];
      return open({ tools, rules }, [...all("zq_outside"), [write, ...all(...asked)[0]]]);
    },
    "errors that say nothing": () => {
      const rule = ({ tool }) => {
        throw tool === "zq_none" ? Object.assign(new Error(""), { name: "" }) : { zq: 1 };
      };
      return open({ tools: [make("zq_none"), make("zq_odd")], rules: [rule] }, all("zq_none", "zq_odd"));
    },
    "arguments of every shape": () => {
      const inputSchema = { type: "object", properties: { zqdiff: { type: "string" } } };
      const current = { zqdiff: "zqold zqsame" };
      const annotations = { destructiveHint: true, idempotentHint: true, openWorldHint: true };
      const preview = () => ({ lines: ["zqline"], current });
      const tools = [
        make("zq_shapes", { inputSchema, preview, annotations }),
        make("zq_safe", { idempotent: true, untrusted: true }),
      ];
      const shapes = {
        zqdiff: "zqnew zqsame",
        zqurl: "https://zqé.example/zq",
        zqmixed: "zq\u0440\u0430ypal".replace("ypal", "zq"),
        zqtext: "zqline\n".repeat(100),
        zqrows: Array.from({ length: 60 }, (_, zqn) => ({ zqn, zqb: -1 })),
        // More than is drawn at once when it is opened.
        zqlist: Array.from({ length: 2_100 }, () => "zqitem"),
        zqtree: Object.fromEntries(Array.from({ length: 60 }, (_, place) => [`zq${place}`, { zqleaf: -5 }])),
        zqarabic: "zq نص",
      };
      return open({ tools }, [
        [
          ["zq_shapes", JSON.stringify(shapes)],
          ["zq_safe", "{}"],
        ],
      ]);
    },
    "a list that a person changes": () => {
      const properties = { zqlines: { type: "array", items: { type: "string" } } };
      const tools = [make("zq_lines", { inputSchema: { type: "object", properties } })];
      return open({ tools }, [[["zq_lines", '{"zqlines":["zqa"]}']]]);
    },
    "arguments that a person changes": () => {
      const properties = { zqfield: { type: "string", minLength: 3 } };
      const inputSchema = { type: "object", properties, required: ["zqfield"] };
      const rules = [refuse("zq_*", ({ zqfield }) => zqfield === "zqrefused", "Zqrefusal.")];
      const nested = {
        type: "object",
        properties: {
          zqdeep: {},
          zqday: { type: "string", format: "date" },
          zqmoment: { type: "string", format: "date-time" },
          zqchoice: { enum: ["zqa"] },
          zqtext: { type: "string" },
          zqnull: { type: "null" },
          zqmap: { type: "object" },
          zqlist: { type: "array" },
          zqflag: { type: "boolean" },
        },
        additionalProperties: false,
      };
      const tools = [
        make("zq_fields", { inputSchema, preview: ({ zqfield }) => [zqfield] }),
        make("zq_json", { inputSchema: nested }),
      ];
      return open({ tools, rules }, [
        [
          ["zq_fields", '{"zqfield":"zqfirst"}'],
          ["zq_json", '{"zqdeep":{"zqinner":[1]}}'],
        ],
      ]);
    },
    "what changed": async () => {
      const store = memoryStore();
      const tools = [make("zq_write")];
      opened += 1;
      const before = await agentOf({ store, tools }).open(`zq${opened}`);
      await before.send(JSON.stringify(all("zq_write")));
      const title = "Zq zqother";
      const inputSchema = { type: "object", properties: { zq: { type: "string" } } };
      const changed = make("zq_write", { title, inputSchema, description: "Zq.", preview: () => ["zqline"] });
      const chat = await agentOf({ store, tools: [changed] }).open(`zq${opened}`);
      element.chat = chat;
      const [{ id }] = chat.snapshot().requests;
      await chat.decide(id, { approve: true, by: "ada" }).catch(({ code }) => code);
      return chat;
    },
    "every decision": async () => {
      let finish = () => {};
      const run = () =>
        new Promise((done) => {
          finish = done;
        });
      const fail = () => {
        throw new Error("zqfailed");
      };
      const people = ["ada", "grace", null];
      const names = [true, false].flatMap((approve) => people.map((by) => `zq_${approve}_${by}`));
      const others = ["zq_allowed", "zq_refused", "zq_withdrawn", "zq_failing", "zq_slow"];
      const tools = [...names, ...others].map((name) =>
        make(name, name === "zq_failing" ? { run: fail } : name === "zq_slow" ? { run } : {}),
      );
      const chat = await open({ tools }, all(...names, ...others));
      for (const approve of [true, false]) {
        for (const by of people) {
          const { id } = requestFor(chat, `zq_${approve}_${by}`);
          await chat.decide(id, { approve, by });
        }
      }
      const idOf = (tool) => requestFor(chat, tool).id;
      await chat.answer({ id: idOf("zq_allowed"), ok: true, by: "policy" });
      await chat.answer({ id: idOf("zq_refused"), ok: false, by: "policy" });
      await chat.answer({ id: idOf("zq_withdrawn"), ok: false });
      await chat.decide(idOf("zq_failing"), { approve: true, by: "ada" });
      await chat.decide(idOf("zq_slow"), { approve: true, by: "ada" });
      await until(chat, ({ messages }) => messages[1].calls.at(-1).state === "running");
      await new Promise((drawn) => requestAnimationFrame(drawn));
      finish("zq");
      await until(chat, ({ status }) => status === "done");
      return chat;
    },
    "arguments that somebody changed": async () => {
      const chat = await open({ tools: [make("zq_a"), make("zq_b")] }, all("zq_a", "zq_b"));
      for (const by of ["grace", null]) {
        const [{ id }] = chat.snapshot().requests;
        await chat.decide(id, { approve: true, by, args: { zq: `${"zqlong ".repeat(20)}zq${by}` } });
      }
      return chat;
    },
    "a new message instead of a decision": async () => {
      const chat = await open({ tools: [make("zq_left")] }, all("zq_left"));
      await chat.send("[]");
      return chat;
    },
    "permissions that were given": async () => {
      const chat = await open({ tools: [make("zq_chat"), make("zq_always")] }, all("zq_chat", "zq_always"));
      const give = (tool, scope) => chat.decide(requestFor(chat, tool).id, { approve: true, by: "ada", scope });
      await give("zq_chat", "chat");
      await (await give("zq_always", { scope: "always", until: Date.now() + 3_600_000 })).continuation;
      await new Promise((drawn) => requestAnimationFrame(drawn));
      element.by = "grace";
      return chat;
    },
    "a permission that the tool has changed since": async () => {
      const store = memoryStore();
      const before = await agentOf({ store, tools: [make("zq_write")] }).open("zqbefore");
      await before.send(JSON.stringify(all("zq_write")));
      await (await before.decide(before.snapshot().requests[0].id, { approve: true, by: "ada", scope: "always" }))
        .continuation;
      const annotations = { destructiveHint: false };
      return open({ store, tools: [make("zq_write", { effect: undefined, annotations })] }, all("zq_write"));
    },
    "a permission to choose": () => open({ tools: [make("zq_terms")] }, all("zq_terms")),
    "a note that gets long": () => open({ tools: [make("zq_note")] }, all("zq_note")),
    "a time that is over soon": async () => {
      const chat = await open({ tools: [make("zq_soon")], approvals: { expireAfterMs: 60_100 } }, all("zq_soon"));
      // What is told a minute before.
      const [region] = document.querySelectorAll("[role=status]");
      await new Promise((told) => {
        new MutationObserver(() => region.textContent.includes("zq_soon") && told()).observe(region, {
          childList: true,
        });
      });
      return chat;
    },
    "cards in a dialog": async () => {
      element.setAttribute("presentation", "modal");
      const chat = await open({ tools: [make("zq_modal")] }, all("zq_modal"));
      await new Promise((drawn) => requestAnimationFrame(drawn));
      element.removeAttribute("presentation");
      return chat;
    },
    "a click on what is not what was shown": () => {
      let count = 0;
      const preview = () => {
        count += 1;
        return [`zq${count}`];
      };
      return open({ tools: [make("zq_changes", { preview })] }, all("zq_changes"));
    },
    "a click by who may not": () => open({ tools: [make("zq_may")], canDecide: () => false }, all("zq_may")),
    "a click after another decision": async () => {
      let clicked = false;
      const canDecide = async () => {
        if (clicked) return true;
        clicked = true;
        const [{ id }] = chat.snapshot().requests;
        await chat.decide(id, { approve: false, by: "ada" });
        return true;
      };
      const chat = await open({ tools: [make("zq_first")], canDecide }, all("zq_first"));
      return chat;
    },
    "a click as the time ends": async () => {
      const canDecide = () => until(chat, ({ requests }) => requests.length === 0).then(() => true);
      const approvals = { expireAfterMs: 1_800 };
      const chat = await open({ tools: [make("zq_ends")], canDecide, approvals }, all("zq_ends"));
      return chat;
    },
    "a click that cannot be stored": () => {
      const store = memoryStore();
      const append = async (chat, seq, lines, head) => {
        if (lines.some((line) => JSON.parse(line).type === "tool.call.decided")) throw new Error("zqfull");
        return store.append(chat, seq, lines, head);
      };
      const [load, list] = [store.load.bind(store), store.list?.bind(store)];
      return open({ store: { load, list, append }, tools: [make("zq_full")] }, all("zq_full"));
    },
    "a click that comes too early": async () => {
      const chat = await open({ tools: [make("zq_early")] }, all("zq_early"));
      // As if the window got the focus again and again.
      const again = setInterval(() => {
        dispatchEvent(new Event("focus"));
        if (element.shadowRoot.querySelector(".said")) clearInterval(again);
      }, 50);
      return chat;
    },
    "a click on what is covered": async () => {
      const chat = await open({ tools: [make("zq_covered")] }, all("zq_covered"));
      element.style.opacity = "0.5";
      return chat;
    },
    "a card for somebody else": async () => {
      const chat = await open({ tools: [make("zq_other")] }, all("zq_other"));
      element.by = "grace";
      return chat;
    },
    "a time that is over": async () => {
      const chat = await open({ tools: [make("zq_late")], approvals: { expireAfterMs: 30 } }, all("zq_late"));
      await until(chat, ({ status }) => status === "done");
      return chat;
    },
    "a stop": async () => {
      const chat = await open({ tools: [make("zq_stopped")] }, all("zq_stopped"));
      await chat.stop();
      return chat;
    },
    "a form": () => {
      const properties = Object.fromEntries(Object.entries(FIELDS).map(([key, [schema]]) => [key, schema]));
      return asking(form({ ...properties, ...FREE }, ["zqrequired"]));
    },
    "a form whose fields do not fit together": () => asking(form(FREE, [], { anyOf: [{ required: ["zqmoment"] }] })),
    "a form whose fields never fit": () => asking(form(FREE, [], { oneOf: [true, true] })),
    "a form that nothing fits": () => asking(form(FREE, [], { allOf: [false] })),
    "an answer of the user": async () => {
      const chat = await asking({ ...field, kind: "question" });
      const [{ id }] = chat.snapshot().requests;
      await (await chat.answer({ id, ok: true, data: { zqfield: "zq" }, by: { user: "ada" } })).continuation;
      return chat;
    },
    "an answer of somebody else": async () => {
      const chat = await asking(field);
      const [{ id }] = chat.snapshot().requests;
      await (await chat.answer({ id, ok: true, data: {}, by: { user: "grace" } })).continuation;
      return chat;
    },
    "an answer of nobody known": async () => {
      const chat = await asking(field);
      const [{ id }] = chat.snapshot().requests;
      await (await chat.answer({ id, ok: true, data: {}, by: { user: null } })).continuation;
      return chat;
    },
    "a request that is declined": async () => {
      const chat = await asking(field);
      const [{ id }] = chat.snapshot().requests;
      await (await chat.answer({ id, ok: false, reason: "declined", by: { user: "ada" } })).continuation;
      return chat;
    },
    "a no that is relayed": async () => {
      const chat = await asking(field, { relay: () => "zqtold" });
      const [{ id }] = chat.snapshot().requests;
      await (await chat.answer({ id, ok: false, reason: "declined", by: { user: "ada" } })).continuation;
      return chat;
    },
    "a request whose time is over": async () => {
      const chat = await asking(field, { approvals: { expireAfterMs: 30 } });
      await until(chat, ({ status }) => status === "done");
      return chat;
    },
    "a request that a stop ends": async () => {
      const chat = await asking(field);
      await chat.stop();
      return chat;
    },
    "an authorization": () => asking({ kind: "authorization", prompt: "Zqprompt.", url: URL }),
    "a kind of the page's own": () => asking({ kind: "zq/own", prompt: "Zqprompt." }),
    "a lost result": lost,
    "a lost result, run again": async () => decided(await lost(), true, "ada"),
    "a lost result, run again by somebody": async () => decided(await lost(), true, "grace"),
    "a lost result, marked as done": async () => decided(await lost(), false, "ada"),
    "a lost result, marked as done by somebody": async () => decided(await lost(), false, "grace"),
    "logs of older versions": async () => {
      for (const log of old) {
        element.chat = await agentOf({ store: memoryStore() }).import(log);
        await new Promise((drawn) => requestAnimationFrame(drawn));
      }
      return element.chat;
    },
  };
}
