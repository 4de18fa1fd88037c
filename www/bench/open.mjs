// How long a chat of 10,000 events takes to open, by all its events and by the projection kept beside them. Both in turn, in
// Chromium, from IndexedDB, up to the snapshot a page draws. Run: npm run bench -- open
import { launch, serveSite } from "../../tests/e2e/harness.mjs";
import { longLog } from "../../tests/e2e/long-log.mjs";

const EVENTS = 10_000;
const ROUNDS = 15;

const endings = [];
const browser = await launch();
try {
  const site = await serveSite({ after: (end) => endings.push(end) });
  const page = await browser.newPage();
  await page.goto(`${site.url}/test/`);
  await page.evaluate(() => window.ready);
  const lines = longLog("long", EVENTS);
  const { bytes, times } = await page.evaluate(measure, { lines, rounds: ROUNDS });
  const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
  const [full, kept] = [median(times.full), median(times.kept)];
  const size = (count) => `${(count / 1e6).toFixed(1)} MB`;
  console.log(`${EVENTS} events, ${size(lines.join("\n").length)}; kept projection ${size(bytes)}`);
  for (const [what, all] of Object.entries(times)) {
    console.log(`${what.padEnd(12)} median ${median(all).toFixed(1)} ms, best ${Math.min(...all).toFixed(1)} ms`);
  }
  console.log(`full : kept  ${(full / kept).toFixed(1)} : 1`);
} finally {
  await browser.close();
  for (const end of endings) await end();
}

/** Runs in the page. */
async function measure({ lines, rounds }) {
  const { createAgent, indexedDBStore, openaiChat } = await import("/dist/index.js");
  const stored = indexedDBStore("bench");
  await stored.append("long", 0, lines, "");
  const { load, append } = stored;
  const open = async (store) => {
    const agent = createAgent({ store, user: null, model: openaiChat({ baseUrl: "/v1", model: "m" }) });
    const start = performance.now();
    const chat = await agent.open("long");
    const count = chat.snapshot().messages.length;
    const time = performance.now() - start;
    agent.dispose();
    return { time, count };
  };
  const agent = createAgent({ store: stored, user: null, model: openaiChat({ baseUrl: "/v1", model: "m" }) });
  const { length } = (await agent.open("long")).snapshot().messages;
  let kept;
  while (!kept) kept = await stored.loadSnapshot("long");
  agent.dispose();

  const times = { full: [], kept: [], "store, full": [], "store, kept": [] };
  const timed = async (what, work) => {
    const start = performance.now();
    await work();
    times[what].push(performance.now() - start);
  };
  for (let round = 0; round < rounds; round++) {
    for (const [what, store] of Object.entries({ full: { load, append }, kept: stored })) {
      const { time, count } = await open(store);
      if (count !== length) throw new Error(`${count} messages instead of ${length}`);
      times[what].push(time);
    }
    await timed("store, full", () => load("long"));
    await timed("store, kept", () => stored.loadSnapshot("long"));
  }
  return { bytes: kept.text.length, times };
}
