/**
 * Every way a call can end, in every kind of turn: two small tables, and what must hold in each pair of their rows.
 *
 * Each pair is a chat of its own, the chats of an exit at once. Each call of a turn is a `subject`, which comes to the
 * exit's end, a `write` that is approved, a `read` that is allowed, or one that stays `open`.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { launch, messagesOf, openTestPage, serveSite, toolMessagesOf } from "./harness.mjs";
import { BLAME, calls, checkHistories, checkLastingBytes, event, stream, text } from "./scripted.mjs";

/** `end` is what the person does instead of the decisions that are left. */
const SHAPES = {
  "one call": { batch: ["subject"] },
  "and an approved write": { batch: ["subject", "write"] },
  "the same tool twice": { batch: ["subject", "subject"] },
  "and an allowed read": { batch: ["read", "subject"] },
  "half decided, then a stop": { batch: ["write", "subject", "open"], end: "stop" },
  "half decided, then a new message": { batch: ["open", "subject", "write"], end: "message" },
};

const approve = { approve: true, by: "ada" };
const deny = { approve: false, by: "ada" };
const denied = (more, text, decidedBy = "run_owner") => ({
  decide: { ...deny, ...more },
  outcome: "approval_denied",
  decidedBy,
  text,
});
const failed = (tool, text) => ({ tool, decide: approve, outcome: "tool_failed", text });
const unheard = (tool, decide, outcome) => ({
  tool,
  decide,
  outcome,
  prompt: /rule about this call could not be eval/,
});

/**
 * - `tool`, `args`: what the model calls, `act` and an object if left out
 * - `decide`: the decision on a subject; without it, it needs none, or the `end` comes instead
 * - `outcome`, `decidedBy`, `text`: of the subject, where the turn goes on; no outcome for a plain result
 * - `whole`: every call of the turn has this outcome
 * - `repeats`: how often the run has repeated its declined subjects before the turn, at least
 * - `rests`: how the run ends, where that is not "done"; no request follows then
 */
const EXITS = {
  approved: { decide: approve },
  "approved with a note": {
    decide: { ...approve, note: "All of it." },
    text: /"at":.*\n\nNote from the user,.*"All of it\."$/,
  },
  denied: denied({}, /^Error: approval_denied \(decided_by: run_owner\)\. .* Say what you could do instead\.$/),
  "denied for a variant": denied(
    { reason: "variant" },
    /\(decided_by: run_owner, reason: variant\)\. .*propose a changed one/,
  ),
  "denied for good": denied(
    { reason: "skip" },
    /\(decided_by: run_owner, reason: skip\)\. .*do not propose this again/,
  ),
  "denied with a note": denied({ note: "It ran.\n" }, /approval_denied .*Nothing was executed\..*: "It ran\.\\n"$/),
  "denied with an empty note": denied({ note: " " }, / Say what you could do instead\.$/),
  "denied by another": denied(
    { by: "grace", note: "Ha." },
    /other_user.*another user, not.* could do instead\.$/,
    "other_user",
  ),
  "denied by nobody knows whom": denied({ by: null }, /decided_by: unknown.*the human reviewer/, "unknown"),
  stopped: { end: "stop" },
  "left for a new message": { end: "message" },
  expired: { end: "expiry" },
  "at the limit": { whole: true, outcome: "tool_unavailable", rests: "limit" },
  repeated: { repeats: 0, outcome: "already_declined", text: /\(call r1t1c\d\) was declined earlier/ },
  "repeated too often": { repeats: 2, outcome: "already_declined", rests: "stopped" },
  "of an unknown tool": { tool: "gone", outcome: "tool_unavailable" },
  "with arguments that do not parse": { args: '{"at":', outcome: "arguments_invalid" },
  "with arguments that break the schema": { args: '{"at":"x"}', outcome: "arguments_invalid" },
  "cut off": { whole: true, outcome: "turn_truncated" },
  "refused by a rule": { tool: "off", outcome: "blocked_by_policy", text: /The rule says: "Off\."/ },
  "judged by a rule that throws": unheard("throwing", approve),
  "judged by a rule that promises": unheard("promising", deny, "approval_denied"),
  "judged by a rule that talks nonsense": unheard("nonsense", approve),
  "of a tool that throws": failed("broken", /The error: "no disk"/),
  "of a tool that is too slow": failed("slow", /did not finish within 60 milliseconds/),
};

const LAPSES = { stop: "approval_cancelled", message: "approval_superseded", expiry: "approval_expired" };

/** What a call of this role comes to. */
function expectedOf(exit, shape, role) {
  if (exit.whole) return { outcome: exit.outcome, ran: false };
  const end = shape.end ?? exit.end;
  const isLeft = role === "open" || (role === "subject" && exit.end !== undefined);
  const isApproved = role === "write" || (role === "subject" && exit.decide?.approve === true);
  if (isLeft || ((isApproved || role === "read") && ["stop", "message"].includes(end))) {
    return { outcome: LAPSES[end], ran: false, isApprovedInVain: isApproved };
  }
  if (role !== "subject") return { ran: true };
  const { outcome, decidedBy = outcome === "approval_denied" ? "run_owner" : undefined, text } = exit;
  return { outcome, decidedBy, text, ran: isApproved };
}

/** The turns that lead to a shape's batch, the batch last: each call a tool, its arguments and its role. */
function turnsOf(exit, shape, number) {
  const tools = { subject: exit.tool ?? "act", write: "write", read: "read", open: "act" };
  const batch = shape.batch.map((role, place) => {
    const args = (role === "subject" && exit.args) || JSON.stringify({ at: 10 * number + place });
    return [tools[role], args, role];
  });
  const subjects = batch.filter(([, , role]) => role === "subject");
  const turns = [batch];
  if (exit.rests === "limit") turns.unshift([["read", '{"at":-1}']]);
  // The first of them is declined, the others repeat it.
  for (let repeats = -subjects.length; repeats < exit.repeats; repeats += subjects.length) turns.unshift(subjects);
  return turns;
}

/** A model that makes the turns that the chat's message spells out, then says "The end." */
function follow(body) {
  const { messages } = JSON.parse(body);
  const place = messages.findLastIndex(({ role }) => role === "user");
  const { content } = messages[place];
  if (!content.startsWith("{")) return text("The end.");
  const { turns, isCut } = JSON.parse(content);
  const made = turns[messages.slice(place).filter(({ role }) => role === "assistant").length];
  if (!made) return text("The end.");
  if (!isCut) return calls(...made);
  const tool_calls = made.map(([name, args], index) => ({ index, function: { name, arguments: args } }));
  return stream(event({ tool_calls }), event({}, "length"));
}

/** Runs in the page: an agent for the exit and a chat for each shape. `runs` holds the `at` of each call that ran. */
async function playAll({ agentOf, make, refuse, rejection, until, lastCalls, runs, given: { exit, plans } }) {
  const inputSchema = { type: "object", properties: { at: { type: "number" } }, required: ["at"] };
  const counted = (name, effect, then = (args) => args) =>
    make(name, { inputSchema, effect, run: (args) => runs.push(args.at) && then(args) });
  const broken = () => {
    throw new Error("no disk");
  };
  const tools = [
    ...["act", "write", "off"].map((name) => counted(name, "write")),
    ...["read", "throwing", "promising", "nonsense"].map((name) => counted(name, "read")),
    counted("broken", "write", broken),
    counted("slow", "write", () => new Promise(() => {})),
  ];
  const judgement = ({ tool }) => {
    if (tool === "throwing") throw new Error("no rule");
    if (tool === "promising") return Promise.resolve({ verdict: "allow" });
    return tool === "nonsense" ? { verdict: "yes" } : undefined;
  };
  const agent = agentOf({
    tools,
    rules: [refuse("off", "Off."), judgement],
    maxRounds: exit.rests === "limit" ? 1 : 20,
    approvals: { expireAfterMs: exit.end === "expiry" ? 400 : null },
    timeouts: { toolMs: 60 },
  });
  const by = "ada";

  const chats = plans.map(async ({ message, roles, end }) => {
    const chat = await agent.open(message);
    await chat.send(message);
    if (exit.repeats !== undefined) {
      for (const { id } of chat.snapshot().requests) await (await chat.decide(id, { approve: false, by })).continuation;
    }
    const { requests } = chat.snapshot();
    const callOf = (request) => lastCalls(chat).find(({ id }) => id === request.callId);
    const roleOf = (request) => roles[lastCalls(chat).indexOf(callOf(request))];
    const prompts = requests.filter((request) => roleOf(request) === "subject").map(({ prompt }) => prompt);
    for (const request of requests) {
      const decision = { write: { approve: true, by }, subject: exit.decide }[roleOf(request)];
      if (decision) await chat.decide(request.id, decision);
    }
    if (end === "stop") await chat.stop();
    if (end === "message") await chat.send("Something else.");
    await until(chat, ({ status }) => !["running", "pending"].includes(status));
    const { status, reason } = chat.snapshot();
    const settled = lastCalls(chat);
    const late = [];
    for (const request of requests) {
      const approve = !callOf(request).decision?.approve;
      late.push((await rejection(() => chat.decide(request.id, { approve, by })))?.code);
    }
    await chat.send("And now?");
    await chat.send("And then?");
    return { status, reason, prompts, settled, late, later: lastCalls(chat), waiting: chat.snapshot().requests.length };
  });
  return { chats: await Promise.all(chats), runs };
}

test("every exit of a call, in every shape of a turn: a call", async (t) => {
  const browser = await launch();
  t.after(() => browser.close());
  const site = await serveSite(t, { model: follow });
  const page = await openTestPage(browser, t, site);

  for (const [name, exit] of Object.entries(EXITS)) {
    await t.test(name, async () => {
      const shapes = Object.entries(SHAPES).filter(([, { end }]) => !end || !(exit.end || exit.whole));
      const plans = shapes.map(([, shape], number) => {
        const turns = turnsOf(exit, shape, number);
        const roles = turns.at(-1).map(([, , role]) => role);
        const message = JSON.stringify({ turns, isCut: exit.outcome === "turn_truncated", exit: name });
        return { message, roles, turns, end: shape.end ?? exit.end };
      });
      const first = site.requests.length;
      const kit = await page.evaluateHandle(async (given) => (await import("/test/kit.mjs")).kit(given), {
        exit: { ...exit, text: undefined, prompt: undefined },
        plans,
      });
      const { chats, runs } = await page.evaluate(playAll, kit);
      const requests = site.requests.slice(first);
      shapes.forEach(([shapeName, shape], number) => {
        const own = requests.filter((request) => messagesOf(request)[0].content === plans[number].message);
        const ran = runs.filter((at) => Math.floor(at / 10) === number).map((at) => at % 10);
        check(exit, shape, plans[number], chats[number], own, ran, `${name}, ${shapeName}`);
      });
      assert.deepEqual(
        runs.filter((at) => !(at >= -1 && at < 10 * shapes.length)),
        [],
        "nothing else ran",
      );
    });
  }
});

/** All that must hold of one chat. */
function check(exit, shape, plan, chat, requests, ran, name) {
  const expected = shape.batch.map((role) => expectedOf(exit, shape, role));

  // What the page is told.
  const places = expected.flatMap((call, place) => (call.ran ? [place] : []));
  assert.deepEqual(ran, places, `${name}: each approved or allowed call ran once, in call order, and no other`);
  chat.settled.forEach((call, place) => {
    const { outcome, decidedBy, ran, text } = expected[place];
    const { executed, result } = call;
    const facts = { outcome: call.outcome, decidedBy: call.decidedBy, executed, isError: result.isError };
    assert.deepEqual(facts, { outcome, decidedBy, executed: ran, isError: outcome !== undefined }, `${name}: ${place}`);
    if (text) assert.match(result.text, text, name);
    if (outcome !== "approval_denied") assert.doesNotMatch(result.text, BLAME, name);
    if (outcome) assert.ok(result.text.startsWith(`Error: ${outcome}`), name);
    if (outcome) assert.equal(result.text.includes("Nothing was executed."), !ran, name);
    assert.equal(result.text.includes("(approved: true)"), expected[place].isApprovedInVain === true, name);
  });
  assert.deepEqual(chat.later, chat.settled, `${name}: what is settled stays`);
  assert.ok(
    chat.late.every((code) => code === "conflict" || code === "expired"),
    `${name}: ${chat.late}`,
  );
  assert.equal(chat.waiting, 0, name);
  for (const prompt of chat.prompts) assert.match(prompt, exit.prompt ?? /a person is asked first/, name);
  const status = plan.end === "stop" ? "stopped" : plan.end === "message" ? "done" : (exit.rests ?? "done");
  assert.equal(chat.status, status, name);

  // What the model server is told.
  const rests = plan.end === "stop" || (plan.end !== "message" && exit.rests !== undefined);
  assert.equal(requests.length, plan.turns.length + (rests ? 0 : 1) + 2, `${name}: so many requests`);
  checkHistories(requests);
  checkLastingBytes(requests);
  const before = plan.turns.flat().length - shape.batch.length;
  const told = requests
    .slice(plan.turns.length)
    .map((request) => toolMessagesOf(request).map(({ content }) => content));
  const results = chat.settled.map(({ result }) => result.text);
  for (const contents of told) assert.deepEqual(contents.slice(before), results, `${name}: one result a call`);
}
