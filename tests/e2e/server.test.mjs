/** The demo's server by itself: what it serves, what it refuses, what it records. No browser. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { createServer, listen } from "../../www/demo/server.mjs";

let base;
let folder;
let server;
let url;
let model;

before(async () => {
  base = await mkdtemp(path.join(tmpdir(), "countersign-"));
  folder = path.join(base, "served");
  await mkdir(folder);
  await writeFile(path.join(folder, "page.html"), "<!doctype html>");
  await writeFile(path.join(folder, "module.wasm"), "wasm");
  await writeFile(path.join(folder, "notes.txt"), "not a page's business");
  await writeFile(path.join(base, "outside.html"), "outside");
  await symlink(path.join(base, "outside.html"), path.join(folder, "link.html"));
  server = createServer({ mounts: { "/test/": { folder } }, model: (body) => model(body) });
  url = await listen(server);
});

after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(base, { recursive: true });
});

/** Sends a path as it is; `fetch` would tidy it up first. */
function get(raw) {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    http
      .get({ hostname, port, path: raw }, (response) => {
        response.resume();
        response.on("end", () => resolve({ status: response.statusCode, headers: response.headers }));
      })
      .on("error", reject);
  });
}

describe("files", () => {
  it("come with their type and are not cached", async () => {
    const page = await get("/test/page.html");
    assert.equal(page.status, 200);
    assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
    assert.equal(page.headers["cache-control"], "no-store");
    assert.equal((await get("/test/module.wasm")).headers["content-type"], "application/wasm");
    assert.equal((await get("/")).headers["content-type"], "text/html; charset=utf-8");
  });

  it("come with a policy that allows no inline script and no markup from text", async () => {
    for (const where of ["/", "/test/page.html"]) {
      const policy = (await get(where)).headers["content-security-policy"];
      assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
      assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'$/);
      assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'/);
    }
  });

  it("are only those of the folder, however the path is written", async () => {
    const paths = [
      "/test/../outside.html",
      "/test/..%2foutside.html",
      "/test/%2e%2e/outside.html",
      "/test/%2e%2e%2foutside.html",
      "/test/link.html",
      "/test/..%5coutside.html",
      "/test/%00page.html",
      "/test/%zz.html",
      "/test/notes.txt",
      "/test/page.html/page.html",
      "/test",
    ];
    for (const raw of paths) assert.equal((await get(raw)).status, 404, raw);
  });
});

describe("the model's route", () => {
  it("records the body as it came, and the status it was answered with", async () => {
    model = (body) => ({ status: 418, contentType: "application/json", chunks: [`{"length":${body.length}}`] });
    const body = '{ "a" : "é\\u00e9" ,\n "a": 1e2 }';
    const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
    assert.equal(response.status, 418);
    assert.deepEqual(await response.json(), { length: body.length });
    assert.equal(server.requests.at(-1).body, body);
    assert.equal(server.requests.at(-1).status, 418);
  });

  it("hands on each chunk when it is there", async () => {
    let goOn;
    const held = new Promise((resolve) => {
      goOn = resolve;
    });
    model = () => ({
      status: 200,
      contentType: "text/event-stream",
      chunks: (async function* () {
        yield "data: 1\n\n";
        await held;
        yield "data: [DONE]\n\n";
      })(),
    });
    const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: "{}" });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader.read()).value, "data: 1\n\n");
    goOn();
    assert.equal((await reader.read()).value, "data: [DONE]\n\n");
    assert.ok((await reader.read()).done);
  });

  it("lists the one model, and knows no other route", async () => {
    const list = await (await fetch(`${url}/v1/models`)).json();
    assert.deepEqual(
      list.data.map(({ id }) => id),
      ["countersign-rehearsal"],
    );
    assert.equal((await fetch(`${url}/v1/completions`, { method: "POST" })).status, 404);
    assert.equal((await fetch(`${url}/`, { method: "POST" })).status, 405);
  });
});
