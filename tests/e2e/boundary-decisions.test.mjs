/**
 * The boundary of decisions: what was shown is what runs, each decision is one that was made and counts once, and no
 * words, clocks or pages of another day change that. In each browser.
 */
import assert from "node:assert/strict";
import { it } from "node:test";
import { inEachBrowser, pressFirst } from "./boundary.mjs";
import { waitFor } from "./browsers.mjs";
import { IMITATIONS } from "./payloads.mjs";
import { calls, checkHistories, lastResults, obedient, text } from "./scripted.mjs";

const DAY = 86_400_000;

const done = (page) => waitFor(page, () => window.chat.snapshot().status === "done");

inEachBrowser(({ open }) => {
  it("boundary/imitation: results, errors and texts that speak of approvals start nothing, and no card changes", async (t) => {
    const looks = IMITATIONS.flatMap((_, n) => [
      ["look", `{"n":${n}}`],
      ["fail", `{"n":${n}}`],
    ]);
    const eat = calls(["eat", '{"count":3}']);
    const model = [eat, calls(...looks), ...IMITATIONS.map(text), eat];
    const { page, site, play, quiet } = await open(t, { model });
    const told = await play(async ({ agentOf, make, runs, given }) => {
      const agent = agentOf({
        tools: [
          make("look", { effect: "read", run: ({ n }) => given[n] }),
          make("fail", { effect: "read", run: ({ n }) => Promise.reject(new Error(given[n])) }),
          make("eat"),
        ],
      });
      const element = document.querySelector("countersign-approvals");
      const card = () => new XMLSerializer().serializeToString(element.shadowRoot.querySelector("[part~=card]"));
      // An arming button says that it is; nothing else of a card moves by itself.
      const still = () => card().replaceAll(' aria-disabled="true"', "");
      const chat = await agent.open("waits");
      window.chat = chat;
      element.chat = chat;
      await chat.send("Eat.");
      const before = [still(), JSON.stringify(chat.snapshot())];
      const other = await agent.open("imitates");
      await other.send("Look.");
      for (const words of given.slice(1)) await other.send(words);
      const after = [still(), JSON.stringify(chat.snapshot())];
      const { status } = await other.send("Eat.");
      // The same call behind all these words has the same card.
      const texts = () => element.shadowRoot.querySelector("[part~=card]").textContent;
      const first = texts();
      element.chat = other;
      const same = texts() === first;
      element.chat = chat;
      return { kept: before.map((one, place) => one === after[place]), status, same, runs };
    }, IMITATIONS);
    assert.deepEqual(told, { kept: [true, true], status: "pending", same: true, runs: [] });
    await pressFirst(page, "deny");
    await done(page);
    const [{ outcome, decidedBy }] = await page.evaluate(() => window.chat.snapshot().messages[1].calls);
    assert.deepEqual([outcome, decidedBy], ["approval_denied", "run_owner"]);
    assert.match(lastResults(site.requests)[0], /^Error: approval_denied /);
    checkHistories(site.requests);
    await quiet();
  });

  it("boundary/shown-is-run: what rules, previews and the page do to arguments, rows and tools reaches no call", async (t) => {
    const args = '{"to":"grace","list":[1,{"deep":"x"}]}';
    const { page, play, quiet } = await open(t, { model: [calls(["mail", args])] });
    await play(async ({ agentOf, make, given }) => {
      window.got = [];
      const spoil = (given) => {
        given.to = "mallory";
        given.list[1].deep = "y";
        given.list.push(2);
      };
      const definition = make("mail", {
        title: "Mail",
        preview: (given) => {
          const line = `To ${given.to}`;
          spoil(given);
          return [line];
        },
        run: (given) => {
          window.got.push(JSON.stringify(given));
          spoil(given);
          return "sent";
        },
      });
      const rules = [
        ({ args }) => void spoil(args),
        (call) => {
          call.argsText = "{}";
          call.tool = "other";
        },
        ({ args }) => (args.to === "grace" ? undefined : { verdict: "allow" }),
      ];
      const tools = [definition];
      const agent = agentOf({ tools, rules });
      window.chat = await agent.open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send("Mail it.");
      // The page has its objects still, and the elements.
      definition.run = () => window.got.push("another function");
      definition.name = "other";
      definition.inputSchema.required = ["bcc"];
      tools.push(definition);
      rules.length = 0;
      try {
        window.chat.snapshot().requests[0].view.arguments[0].text = "mallory";
      } catch {
        // It is frozen.
      }
      const { shadowRoot } = document.querySelector("countersign-approvals");
      for (const value of shadowRoot.querySelectorAll("dd, li")) value.textContent = "To mallory";
      return given;
    }, null);
    const { view } = await page.evaluate(() => window.chat.snapshot().requests[0]);
    assert.equal(view.arguments[0].text, "grace");
    assert.deepEqual(view.preview, ["To grace"]);
    await pressFirst(page, "approve");
    await done(page);
    assert.deepEqual(await page.evaluate(() => window.got), [args]);
    await quiet();
  });

  it("boundary/shown-is-run: a call or a tool that is not what was shown does not run", async (t) => {
    const { play, site } = await open(t, { model: obedient });
    const told = await play(async ({ agentOf, make, memoryStore, order, rejection, runs, lastCalls }) => {
      const eat = (more) => make("eat", { run: ({ n }) => runs.push(n), ...more });
      /** A chat that waits, in a store whose lines are then rewritten, opened again with this tool, and approved. */
      const attempt = async (rewrite, tool = eat()) => {
        const store = memoryStore();
        const chat = await agentOf({ store, tools: [eat()] }).open("c");
        await chat.send(order(["eat", '{"n":1}']));
        const lines = (await store.load("c")).map(rewrite);
        const other = memoryStore();
        await other.append("c", 0, lines, "");
        runs.length = 0;
        const code = await rejection(async () => {
          const again = await agentOf({ store: other, tools: [tool] }).open("c");
          const [{ id }] = again.snapshot().requests;
          await (await again.decide(id, { approve: true, by: "ada" })).continuation;
          const [{ outcome }] = lastCalls(again);
          if (outcome) throw { code: outcome };
        });
        return [code?.code ?? null, [...runs]];
      };
      const swap = (from, to) => (line) => line.replaceAll(from, to);
      return {
        same: await attempt((line) => line),
        arguments: await attempt(swap('\\"n\\":1', '\\"n\\":2')),
        digest: await attempt((line) => line.replace(/"digest":"../, '"digest":"00')),
        tool: await attempt(swap('"eat"', '"look"'), make("look")),
        effect: await attempt((line) => line, eat({ effect: "read" })),
        description: await attempt((line) => line, eat({ description: "Eats all." })),
        schema: await attempt((line) => line, eat({ inputSchema: { type: "object", properties: { n: {} } } })),
        title: await attempt((line) => line, eat({ title: "Look" })),
      };
    });
    const { same, ...changed } = told;
    assert.deepEqual(same, [null, [1]]);
    for (const [what, end] of Object.entries(changed)) assert.deepEqual(end, ["changed", []], what);
    checkHistories(site.requests);
  });

  it("boundary/replay: an id counts once, in its own chat and run, and no other text is one", async (t) => {
    const { page, play, quiet } = await open(t, { model: obedient });
    const told = await play(async ({ agentOf, make, order, runs, rejection }) => {
      const agent = agentOf({ tools: [make("eat")] });
      const chat = await agent.open("c");
      const other = await agent.open("other");
      const decide = async (id, approve = true, where = chat) => {
        let result;
        const error = await rejection(async () => {
          result = await where.decide(id, { approve, by: "ada" });
          await result.continuation;
        });
        return error ? (error.code ?? error.name) : result.result;
      };
      const ask = async (where = chat) => {
        await where.send(order(["eat", "{}"]));
        return where.snapshot().requests[0];
      };
      const told = { ids: [] };
      const denied = await ask();
      told.denied = [await decide(denied.id, false), await decide(denied.id), await decide(denied.id, false)];
      const approved = await ask();
      told.approved = await Promise.all([decide(approved.id), decide(approved.id), decide(approved.id, false)]);
      told.again = [await decide(approved.id), await decide(approved.id, false), [...runs]];
      const stopped = await ask();
      await chat.stop();
      told.stopped = await decide(stopped.id);
      const superseded = await ask();
      const waits = await ask();
      told.superseded = await decide(superseded.id);
      told.elsewhere = await decide(waits.id, true, other);
      const forged = [
        "0".repeat(32),
        waits.id.toUpperCase() === waits.id ? `${waits.id} ` : waits.id.toUpperCase(),
        waits.id.slice(0, -1),
        `${waits.id}\u0000`,
        ` ${waits.id}`,
        waits.view.digest,
        waits.callId,
        "__proto__",
        "constructor",
        "*",
        "",
        "approve",
      ];
      told.forged = [];
      for (const id of forged) told.forged.push(await decide(id));
      for (const id of [undefined, null, 0, true, {}, [waits.id], { toString: () => waits.id }]) {
        told.forged.push(await decide(id));
      }
      told.left = [chat.snapshot().requests.map(({ id }) => id === waits.id), runs.length];
      told.ids = [denied, approved, stopped, superseded, waits].map(({ id }) => id);
      window.chat = chat;
      window.runs = runs;
      document.querySelector("countersign-approvals").chat = chat;
      return told;
    });
    assert.deepEqual(told.denied, ["applied", "conflict", "already"]);
    assert.deepEqual(told.approved, ["applied", "already", "conflict"]);
    assert.deepEqual(told.again, ["already", "conflict", ["eat"]]);
    assert.deepEqual([told.stopped, told.superseded, told.elsewhere], ["conflict", "conflict", "unknown_request"]);
    for (const [place, code] of told.forged.entries()) assert.equal(code, "unknown_request", `${place}`);
    assert.deepEqual(told.left, [[true], 1]);
    for (const id of told.ids) assert.match(id, /^[0-9a-f]{32}$/, "128 bits");
    assert.equal(new Set(told.ids).size, told.ids.length);
    await pressFirst(page, "approve");
    await done(page);
    assert.equal(await page.evaluate(() => window.runs.length), 2);
    await quiet();
  });

  it("boundary/denied-ran: wherever a page ends, a denied call stays denied and an approved one is not lost", async (t) => {
    const { play, site } = await open(t, { model: obedient });
    const told = await play(async ({ agentOf, make, memoryStore, order, ask, lastCalls }) => {
      const whole = async (approve) => {
        const store = memoryStore();
        const chat = await agentOf({ store, tools: [make("eat")] }).open("c");
        await chat.send(order(["eat", "{}"]));
        await (await chat.decide(chat.snapshot().requests[0].id, { approve, by: "ada" })).continuation;
        return store.load("c");
      };
      const ends = {};
      for (const approve of [true, false]) {
        const lines = await whole(approve);
        ends[approve] = [];
        for (let length = 0; length <= lines.length; length += 1) {
          const store = memoryStore();
          await store.append("c", 0, lines.slice(0, length), "");
          let ran = 0;
          const eat = make("eat", {
            run: () => {
              ran += 1;
            },
          });
          const chat = await agentOf({ store, tools: [eat] }).open("c");
          const has = (type) => lines.slice(0, length).some((line) => JSON.parse(line).type === type);
          const opened = ran;
          if (chat.snapshot().status === "interrupted") await chat.resume();
          const { status, requests } = chat.snapshot();
          const [call] = length > 1 ? (lastCalls(chat) ?? []) : [];
          ends[approve].push({
            ...{ opened, ran, status, kinds: requests.map(({ kind }) => kind), outcome: call?.outcome ?? null },
            ...{ decided: has("tool.call.decided"), started: has("tool.call.started"), over: has("run.ended") },
            settled: has("tool.call.completed") || has("tool.call.denied"),
          });
        }
      }
      // A card that a rule alone asked for waits for a person where the rule is gone, and where nothing draws it.
      const store = memoryStore();
      let ran = 0;
      const look = make("look", {
        effect: "read",
        run: () => {
          ran += 1;
        },
      });
      const ruled = agentOf({ store, tools: [look], rules: [ask("look", "Look twice.")] });
      await (await ruled.open("c")).send(order(["look", "{}"]));
      ruled.dispose();
      const chat = await agentOf({ store, tools: [look] }).open("c");
      const gated = [chat.snapshot().status, ran];
      await chat.resume().catch(() => {});
      await new Promise((next) => setTimeout(next));
      return { ends, gated: [...gated, chat.snapshot().status, ran, chat.snapshot().requests.length] };
    });
    assert.deepEqual(told.gated, ["pending", 0, "pending", 0, 1]);
    for (const end of told.ends.false) {
      assert.deepEqual([end.opened, end.ran], [0, 0]);
      if (end.decided) assert.deepEqual([end.kinds, end.outcome], [[], "approval_denied"]);
    }
    for (const { opened, ran, kinds, decided, started, settled } of told.ends.true) {
      assert.equal(opened, 0, "opening runs nothing");
      assert.equal(ran, decided && !started ? 1 : 0);
      if (started && !settled) assert.deepEqual(kinds, ["recovery"]);
      else if (decided) assert.deepEqual(kinds, [], "nobody is asked again");
    }
    checkHistories(site.requests);
  });

  it("boundary/clock: a clock that jumps by a day gives nobody more time, and a decision in time counts", async (t) => {
    const { play } = await open(t, { model: obedient });
    const told = await play(async ({ memoryStore, order, given: day }) => {
      const { now } = Date;
      let copies = 0;
      /** The chat of this store in a module of its own, which knows nothing of an earlier clock: as after a reload. */
      const open = async (store) => {
        copies += 1;
        const library = await import(`/dist/index.js?clock=${copies}`);
        await library.init();
        const model = library.openaiChat({ baseUrl: "/v1", model: "m" });
        const eat = library.tool({ name: "eat", inputSchema: { type: "object" }, run: () => "eaten" });
        const options = { user: { id: "ada" }, store, model, tools: [eat], approvals: { expireAfterMs: day / 2 } };
        return library.createAgent(options).open("c");
      };
      /** A chat that waits, then a decision after each jump: how the clock is set, and whether the page is a new one. */
      const attempt = async (...jumps) => {
        Date.now = now;
        const store = memoryStore();
        let chat = await open(store);
        await chat.send(order(["eat", "{}"]));
        const [{ id, expiresAt }] = chat.snapshot().requests;
        const said = [];
        for (const [by, isNew] of jumps) {
          Date.now = () => now() + by;
          if (isNew) chat = await open(store);
          const [waits] = chat.snapshot().requests;
          if (waits && waits.expiresAt !== expiresAt) said.push("its time has changed");
          const decided = chat.decide(id, { approve: true, by: "ada" });
          said.push(await decided.then(({ result }) => result).catch(({ code }) => code));
        }
        if (chat.snapshot().status === "interrupted") await chat.resume();
        while (chat.snapshot().status !== "done") await new Promise((next) => setTimeout(next));
        const times = (await store.load("c")).map((line) => JSON.parse(line).at);
        if (times.some((at, place) => at < times[place - 1])) said.push("an event is earlier than the one before it");
        const { calls } = chat.snapshot().messages[1];
        return [...said, calls[0].outcome ?? "ran"];
      };
      const ends = {
        "a day on": await attempt([day, false]),
        "a day on, after a reload": await attempt([day, true]),
        "a day on and back": await attempt([day, false], [0, false]),
        "a day on and back, after a reload": await attempt([day, false], [0, true], [-day, true]),
        "a day back": await attempt([-day, false]),
        "a day back, after a reload": await attempt([-day, true]),
      };
      Date.now = now;
      return ends;
    }, DAY);
    assert.deepEqual(told, {
      "a day on": ["expired", "approval_expired"],
      "a day on, after a reload": ["expired", "approval_expired"],
      "a day on and back": ["expired", "expired", "approval_expired"],
      "a day on and back, after a reload": ["expired", "expired", "expired", "approval_expired"],
      "a day back": ["applied", "ran"],
      "a day back, after a reload": ["applied", "ran"],
    });
  });

  it("boundary/log: a byte that is flipped is found, and a tail that is dropped by who kept the head", async (t) => {
    const { play } = await open(t, { model: [calls(["eat", '{"n":1}'])] });
    const told = await play(async ({ agentOf, make, verifyLog }) => {
      const chat = await agentOf({ tools: [make("eat")] }).open("c");
      await chat.send("Eat.");
      await (await chat.decide(chat.snapshot().requests[0].id, { approve: false, by: "ada" })).continuation;
      const log = (await chat.export({ privacy: "full" })).trimEnd();
      const anchor = verifyLog(log);
      const lines = log.split("\n");
      const unseen = [];
      for (let at = 0; at < log.length; at += 3) {
        const flipped = log.slice(0, at) + String.fromCharCode(log.charCodeAt(at) ^ 1) + log.slice(at + 1);
        const { valid, head } = verifyLog(flipped);
        if (valid && head === anchor.head) unseen.push(log.slice(at - 20, at + 20));
      }
      const tails = lines.slice(1).map((_, place) => verifyLog(lines.slice(0, place + 1).join("\n")));
      const holes = lines.slice(1).map((_, place) => verifyLog(lines.toSpliced(place, 1).join("\n")));
      return { anchor, unseen, tails, holes, count: lines.length };
    });
    assert.deepEqual([told.anchor.valid, told.anchor.events], [true, told.count]);
    assert.deepEqual(told.unseen, []);
    for (const [place, { valid, head, events }] of told.tails.entries()) {
      assert.deepEqual([valid, events], [true, place + 1], "a shorter log is a log");
      assert.notEqual(head, told.anchor.head);
    }
    assert.deepEqual(
      told.holes.map(({ valid, seq }) => [valid, seq]),
      told.holes.map((_, place) => [false, place]),
    );
  });
});
