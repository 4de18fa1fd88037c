/** The demo with a model server of the person's choice: where requests go, where the key goes and where it does not. */
import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, it } from "node:test";
import { serve } from "../../www/demo/rehearsal.mjs";
import { listen } from "../../www/demo/server.mjs";
import { answer, decide, openDemo } from "./demo.mjs";
import { cardOf, launch, say } from "./harness.mjs";

const KEY = "sk-not-to-be-seen-7f3a9c";
const MODEL = "countersign-rehearsal";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A model server of another origin, which lets pages from elsewhere in as its kind does. */
async function otherServer(t) {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "authorization, content-type");
    if (request.method === "OPTIONS") return response.end();
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces).toString("utf8");
    requests.push({ url: request.url, headers: request.headers, body });
    const { status, contentType, chunks } = serve(body);
    response.writeHead(status, { "content-type": contentType });
    response.end(chunks.join(""));
  });
  const url = await listen(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `${url}/v1`, requests };
}

/** Fills the dialog in and uses it; without a key the field stays as it is. */
async function set(page, { kind = "hosted", url, model = MODEL, key }) {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("combobox", { name: "Where the model is" }).selectOption(kind);
  if (url !== undefined) {
    await page.getByRole("textbox", { name: "Base URL" }).fill(url);
    await page.getByRole("textbox", { name: "Model" }).fill(model);
  }
  if (key !== undefined) await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Use these settings" }).click();
}

const closed = (page) => page.locator("#settings:not([open])").waitFor({ state: "attached" });

describe("the settings", () => {
  it("send requests to the server that is named, with the key in a header and nowhere else", async (t) => {
    const other = await otherServer(t);
    const { page, site } = await openDemo(browser, t);
    await set(page, { url: other.url, key: KEY });
    await closed(page);
    assert.equal(await page.locator("#model-server").textContent(), `The model is ${MODEL} at ${other.url}.`);

    await say(page, "Rewrite the page's title");
    await decide(cardOf(page, "Update the page"), "Deny");
    await answer(page, "You declined that yourself.");
    assert.deepEqual(
      other.requests.map(({ url, headers }) => [url, headers.authorization]),
      Array(3).fill(["/v1/chat/completions", `Bearer ${KEY}`]),
    );
    assert.equal(site.requests.length, 0, "the page's own server is not asked");
    assert.equal(await page.locator("#request").textContent(), other.requests.at(-1).body);

    await page.getByRole("button", { name: "Settings" }).click();
    for (const [where, text] of Object.entries(await everythingKept(page))) {
      assert.ok(!text.includes(KEY), `the key is in ${where}`);
    }
    assert.ok(!other.requests.some(({ body }) => body.includes(KEY)));
  });

  it("keep a key for its own origin and for as long as it is in use", async (t) => {
    const [first, second] = [await otherServer(t), await otherServer(t)];
    const { page } = await openDemo(browser, t);
    const hello = async () => {
      await say(page, "Look into the jar");
      await answer(page, "12 cookies");
    };
    await set(page, { url: first.url, key: KEY });
    await closed(page);
    await set(page, { url: `${first.url}/` });
    await closed(page);
    await hello();
    assert.equal(first.requests.at(-1).headers.authorization, `Bearer ${KEY}`, "the field was left empty");

    await set(page, { url: second.url });
    await closed(page);
    await hello();
    assert.equal(second.requests.at(-1).headers.authorization, undefined, "another origin gets no key");

    await set(page, { url: first.url });
    await closed(page);
    await hello();
    assert.equal(first.requests.at(-1).headers.authorization, undefined, "the key was given up with its server");
  });

  it("say what is wrong with them, and leave the chat as it was", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, "Look into the jar");
    await answer(page, "12 cookies");
    const trouble = page.locator("#settings-trouble");
    const CASES = [
      ["http://example.org/v1", /options\.model\.baseUrl must be https/],
      ["https://ada:secret@example.org/v1", /must not hold a user name or password/],
      ["https://[", /must be a URL/],
    ];
    for (const [url, rule] of CASES) {
      await set(page, { url, key: KEY });
      await trouble.filter({ hasText: rule }).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
    }
    assert.equal(await page.locator("#messages > li.user").count(), 1, "the chat is still there");
    const before = site.requests.length;
    await say(page, "Eat 2 cookies");
    await decide(cardOf(page, "Cookie jar"), "Approve");
    await answer(page, "2 cookies were eaten");
    assert.ok(site.requests.length > before);
    assert.ok(site.requests.every(({ headers }) => headers.authorization === undefined));
  });

  it("tell what a person has to know about each kind of server", async (t) => {
    const { page } = await openDemo(browser, t);
    await page.getByRole("button", { name: "Settings" }).click();
    const kind = page.getByRole("combobox", { name: "Where the model is" });
    const url = page.getByRole("textbox", { name: "Base URL" });
    assert.ok(await url.isHidden(), "the rehearsal model needs no URL");
    const CASES = [
      ["ollama", "http://localhost:11434/v1", `OLLAMA_ORIGINS=${new URL(page.url()).origin}`],
      ["lm-studio", "http://localhost:1234/v1", "turn on CORS"],
      ["hosted", "https://api.openai.com/v1", "OpenAI Chat Completions"],
    ];
    for (const [name, base, hint] of CASES) {
      await kind.selectOption(name);
      assert.equal(await url.inputValue(), base);
      assert.ok((await page.locator("#settings-hint").textContent()).includes(hint), hint);
      assert.match(
        await page.locator("#settings-key-warning").textContent(),
        /memory[^.]*not stored[\s\S]*trying out only/,
      );
    }
  });

  it("go back to the rehearsal model", async (t) => {
    const other = await otherServer(t);
    const { page, site } = await openDemo(browser, t);
    await set(page, { url: other.url, key: KEY });
    await closed(page);
    await set(page, { kind: "rehearsal" });
    await closed(page);
    await page.getByText("rehearsal model: a fixed set of rules, no language model").waitFor();
    await say(page, "Look into the jar");
    await answer(page, "12 cookies");
    assert.equal(other.requests.length, 0);
    assert.ok(site.requests.every(({ headers }) => headers.authorization === undefined));
  });
});

/** Every place of the page and the browser that keeps text. */
function everythingKept(page) {
  return page.evaluate(async () => {
    const shadow = document.querySelector("countersign-approvals").shadowRoot.textContent;
    const fields = [...document.querySelectorAll("input, textarea, select")].map(({ value }) => value);
    const databases = await indexedDB.databases();
    const read = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const rows = [];
    for (const { name } of databases) {
      const database = await read(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        rows.push(await read(database.transaction(store).objectStore(store).getAll()));
      }
      database.close();
    }
    return {
      "the document": document.documentElement.outerHTML,
      "the cards": shadow,
      "a field": JSON.stringify(fields),
      localStorage: JSON.stringify(localStorage),
      sessionStorage: JSON.stringify(sessionStorage),
      IndexedDB: JSON.stringify(rows),
      "a cookie": document.cookie,
      "the address": location.href + JSON.stringify(history.state),
      "a cache": JSON.stringify(await caches.keys()),
    };
  });
}
