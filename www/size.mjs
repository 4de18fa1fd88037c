// Sizes of what a page downloads, as JSON on stdout; exit code 1 if over budget. Run: npm run --silent size
//
// That is dist/index.js, every module it imports statically, and one wasm module. A dynamic import is what a page
// loads only when it uses it, and is not counted. `total` and the budget are about what init() loads by default; `others`
// says what it comes to with each other module, which a page loads instead of that one.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { Advice, script } from "./scripts/command.mjs";
import { dist } from "./scripts/layout.mjs";
import { matrix } from "./scripts/matrix.mjs";
import { packages } from "./scripts/packages.mjs";

const staticImport = /(?:^|[;}\n])\s*(?:import|export)\b(?:[^"'`;()]*?from)?\s*["'](\.[^"']+)["']/g;

await script(async () => {
  await packages(process.env);
  const entry = join(dist, "index.js");
  if (!existsSync(entry)) throw new Advice(`There is no ${entry}: run "npm run build" first.`);

  const { modules, size } = await matrix();
  const scripts = new Set();
  follow(entry, scripts);
  const [{ files, total }, ...others] = Object.keys(modules).map((name) => {
    const paths = [...scripts, join(dist, `${name}_bg.wasm`)];
    const files = paths.map((path) => ({ file: relative(dist, path), ...weigh(readFileSync(path)) }));
    const sum = (key) => files.reduce((total, file) => total + file[key], 0);
    return { files, total: { raw: sum("raw"), gzip: sum("gzip"), brotli: sum("brotli") } };
  });
  const budget = size["brotli-budget"];
  console.log(JSON.stringify({ files, total, budget: { brotli: budget }, others }, undefined, 2));
  if (total.brotli > budget) {
    throw new Advice(`The default entry is ${total.brotli - budget} bytes over its budget in wasm-pack.toml.`);
  }
});

function follow(path, seen) {
  if (seen.has(path)) return;
  seen.add(path);
  for (const [, specifier] of readFileSync(path, "utf8").matchAll(staticImport)) {
    follow(join(dirname(path), specifier), seen);
  }
}

function weigh(bytes) {
  const brotli = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli.length };
}
