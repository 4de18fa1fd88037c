/** A host that draws its own card: the view as data has all that the element shows, and a decision says how it came in. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openGallery, TOGETHER } from "./gallery.mjs";
import { launch, serveSite } from "./harness.mjs";
import { checkHistories, lastResults, obedient, play } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("a card that the page draws itself", () => {
  it("A18: finds in the view every text of the call that the element shows, in every state", async (t) => {
    const page = await openGallery(browser, t, await serveSite(t));
    const cards = await page.evaluate(() =>
      [...document.querySelectorAll("figure")].flatMap(({ dataset, lastElementChild: { chat, shadowRoot } }) => {
        const waiting = [...shadowRoot.querySelectorAll("[part~='card']")].filter(
          (card) => card.querySelector("[part~='actions']") !== null,
        );
        const isEdited = shadowRoot.querySelector("[data-edited]") !== null;
        const texts = (card, find) => [...card.querySelectorAll(find)].map((element) => element.textContent);
        return waiting.map((card, place) => ({
          state: dataset.state,
          isEdited,
          request: chat.snapshot().requests[place],
          shown: {
            title: texts(card, "[part~='title']"),
            tool: texts(card, "[part~='tool'] code"),
            server: texts(card, "[part~='server']"),
            why: texts(card, "[part~='why']"),
            preview: texts(card, "[part~='preview'] li"),
            url: texts(card, "[part~='authorization'] code"),
          },
          names: texts(card, "[part~='arguments'] :is(dt, .group, caption, thead th)"),
          // What changes is told in words of the card's own, as is what is not what it looks like.
          values: [...card.querySelectorAll("[part~='arguments'] [data-kind]:not(:has(ins, del))")].map(
            (place) => (place.querySelector(":scope > span, .block") ?? place).textContent,
          ),
        }));
      }),
    );
    assert.ok(cards.length > 15, `${cards.length} cards`);
    for (const { state, isEdited, request, shown, names, values } of cards) {
      const { view } = request;
      const own = {
        title: [view.title ?? view.tool],
        tool: [view.tool],
        server: view.server ? [view.server] : [],
        why: [view.why],
        preview: view.preview,
        url: request.url ? [request.url] : [],
      };
      assert.deepEqual(shown, own, state);
      // A card whose arguments a person changes shows what would run then.
      if (isEdited) continue;
      const { arguments: rows } = view;
      const known = new Set(rows.flatMap(({ name, group, table }) => [name, group, table]));
      assert.deepEqual(
        names.filter((name) => !known.has(name)),
        [],
        state,
      );
      // A folded text is shown from its beginning.
      const isKnown = (value) =>
        rows.some(({ text }) => (text || "empty text") === value || (value.length > 20 && text.startsWith(value)));
      assert.deepEqual(
        values.filter((value) => value !== "" && !isKnown(value)),
        [],
        state,
      );
      assert.ok(rows.length === 0 || names.length + values.length > 0, state);
      assert.match(view.digest, /^[0-9a-f]{64}$/, state);
    }
    const pending = new Set(cards.map(({ state }) => state));
    const asking = TOGETHER.filter(({ group, shows }) => group !== "Receipts" && shows !== "grants").map(
      ({ name }) => name,
    );
    assert.deepEqual(
      asking.filter((name) => !pending.has(name)),
      [],
    );
  });

  for (const approve of [true, false]) {
    it(`A18: ${approve ? "approves" : "denies"} by its own button, which the record says came by the API`, async (t) => {
      const { page, requests } = await play(browser, t, obedient, async (kit) => {
        const chat = await kit.agentOf({ tools: [kit.make("eat", { title: "Eat a cookie" })] }).open("c");
        window.chat = chat;
        window.runs = kit.runs;
        document.querySelector("countersign-approvals").remove();
        const card = document.createElement("fieldset");
        document.body.append(card);
        const draw = () => {
          const [request] = chat.snapshot().requests;
          card.textContent = "";
          if (!request) return;
          const { view } = request;
          card.append(`${view.title}: ${view.arguments.map(({ path, text }) => `${path} = ${text}`).join()}`);
          for (const approve of [true, false]) {
            const button = document.createElement("button");
            button.textContent = approve ? "Go on" : "Better not";
            button.onclick = () => chat.decide(request.id, { approve, by: "ada" });
            card.append(button);
          }
        };
        chat.subscribe(draw);
        await chat.send(kit.order(["eat", '{"kind":"o\\u202eat"}']));
      });
      await page.getByText("Eat a cookie: kind = o⟨U+202E⟩at").waitFor();
      await page.getByRole("button", { name: approve ? "Go on" : "Better not" }).click();
      await page.waitForFunction(() => window.chat.snapshot().status === "done");
      const { call, runs, log } = await page.evaluate(async () => ({
        call: window.chat.snapshot().messages[1].calls[0],
        runs: window.runs,
        log: await window.chat.export({ privacy: "full" }),
      }));
      const { via, by, settler } = call.decision;
      assert.deepEqual({ via, by, settler }, { via: "api", by: "ada", settler: "person" });
      assert.deepEqual(runs, approve ? ["eat"] : []);
      const decided = log
        .split("\n")
        .filter(Boolean)
        .map(JSON.parse)
        .filter(({ type }) => type === "tool.call.decided");
      assert.deepEqual(
        decided.map((event) => [event.via, event.approved]),
        [["api", approve]],
      );
      assert.match(lastResults(requests)[0], approve ? /kind/ : /^Error: approval_denied \(decided_by: run_owner\)\. /);
      checkHistories(requests);
    });
  }
});
