/**
 * Serves the demo, the built package and the rehearsal model (a rule-based stand-in, no language model)
 * from one origin: `node www/demo/server.mjs`, port from PORT or 8737, this machine only.
 *
 * Tests mount their own pages and put another model behind the same recording.
 */
import { readFile, realpath, stat } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { DEMO_POLICY, STRICT_POLICY } from "./policy.mjs";
import { MODEL, pace, serve } from "./rehearsal.mjs";

export { DEMO_POLICY, STRICT_POLICY };

const DEMO = fileURLToPath(new URL(".", import.meta.url));
const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

/** A type for everything a page here loads. A file of another kind is not served. */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/**
 * A recorded model request. `body` is what came over the wire, not parsed and written again.
 *
 * @typedef {{ body: string, headers: http.IncomingHttpHeaders, status: number }} Recorded
 */

/**
 * @typedef {{ status: number, contentType: string, chunks: Iterable<string> | AsyncIterable<string | Uint8Array> }} Answer
 */

/**
 * Makes the server; the caller listens.
 *
 * @param {object} [options]
 * @param {Record<string, { folder: string, policy?: string }>} [options.mounts] more folders by URL prefix, such as `/test/`
 * @param {(body: string) => Answer | Promise<Answer>} [options.model] who answers `POST /v1/chat/completions`
 * @param {number} [options.delayMs] a pause before each chunk, so that a person sees the text come in
 * @returns {http.Server & { requests: Recorded[] }} `requests` are the model requests so far, oldest first
 */
export function createServer({ mounts = {}, model = serve, delayMs = 0 } = {}) {
  const folders = Object.entries({
    "/": { folder: DEMO, policy: DEMO_POLICY },
    "/dist/": { folder: DIST, policy: DEMO_POLICY },
    ...mounts,
  }).sort(([a], [b]) => b.length - a.length);
  const requests = [];

  const server = http.createServer((request, response) => {
    response.setHeader("cache-control", "no-store");
    response.setHeader("x-content-type-options", "nosniff");
    answer(request, response).catch((error) => {
      // A client that left is no failure of ours, and nobody is there to be told.
      if (response.destroyed) return;
      console.error(error);
      if (response.headersSent) response.destroy();
      else send(response, 500, "The server failed; its own output says how.");
    });
  });

  async function answer(request, response) {
    const { pathname } = new URL(request.url, "http://localhost");
    const route = `${request.method} ${pathname}`;
    if (route === "POST /v1/chat/completions") return complete(request, response);
    if (route === "GET /v1/models") {
      return sendJson(response, 200, {
        object: "list",
        data: [{ id: MODEL, object: "model", created: 0, owned_by: "countersign" }],
      });
    }
    if (pathname.startsWith("/v1/")) {
      return sendJson(response, 404, {
        error: {
          message: `Unknown request URL: ${route}.`,
          type: "invalid_request_error",
          param: null,
          code: "unknown_url",
        },
      });
    }
    if (request.method !== "GET" && request.method !== "HEAD") return send(response, 405, "Only GET here.");
    return sendFile(pathname, response);
  }

  async function complete(request, response) {
    const body = await textOf(request);
    const recorded = { body, headers: request.headers, status: 0 };
    requests.push(recorded);
    const { status, contentType, chunks } = await model(body);
    recorded.status = status;
    response.writeHead(status, { "content-type": contentType });
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    for await (const chunk of pace(chunks, delayMs, gone.signal)) response.write(chunk);
    response.end();
  }

  async function sendFile(pathname, response) {
    const [prefix, { folder, policy }] = folders.find(([start]) => pathname.startsWith(start));
    const found = await readInside(folder, pathname.slice(prefix.length) || "index.html");
    if (!found) return send(response, 404, `No such file: ${pathname}`);
    if (found.type.startsWith("text/html")) response.setHeader("content-security-policy", policy ?? STRICT_POLICY);
    response.writeHead(200, { "content-type": found.type });
    response.end(found.bytes);
  }

  return Object.assign(server, { requests });
}

/**
 * Reads a file of a folder. The path is judged after links are followed: what lies outside is not there.
 *
 * @returns {Promise<{ bytes: Buffer, type: string } | null>}
 */
async function readInside(folder, encoded) {
  const type = TYPES[path.extname(encoded)];
  if (!type) return null;
  try {
    const root = await realpath(folder);
    const file = await realpath(path.join(root, decodeURIComponent(encoded)));
    if (!file.startsWith(root + path.sep) || !(await stat(file)).isFile()) return null;
    return { bytes: await readFile(file), type };
  } catch (error) {
    // A missing file, a name that is no file's, or an escape that does not decode.
    if (
      error.code === "ENOENT" ||
      error.code === "ENOTDIR" ||
      error.code === "ERR_INVALID_ARG_VALUE" ||
      error instanceof URIError
    )
      return null;
    throw error;
  }
}

async function textOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function sendJson(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function send(response, status, text) {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(`${text}\n`);
}

/**
 * Starts a server on this machine only.
 *
 * @param {http.Server} server
 * @param {number} port 0 for a free one
 * @returns {Promise<string>} its URL, without a slash at the end
 */
export function listen(server, port = 0) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`));
  });
}

if (process.argv[1] && (await realpath(process.argv[1])) === fileURLToPath(import.meta.url)) {
  const built = await stat(path.join(DIST, "index.js")).catch(() => null);
  if (!built)
    console.error("The package is not built yet, so the page will not start: run `npm run build` in www first.");
  const url = await listen(createServer({ delayMs: 25 }), Number(process.env.PORT ?? 8737));
  console.log(`The demo is at ${url}/ and its rehearsal model, a rule-based stand-in, at ${url}/v1`);
}
