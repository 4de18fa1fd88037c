// The npm package as `npm pack` makes it, seen by a project that installed it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const www = join(import.meta.dirname, "..", "..", "www");
const project = mkdtempSync(join(tmpdir(), "countersign-package-"));
const installed = join(project, "node_modules", "countersign");
let packed;

before(() => {
  // The build is the step before; packing must not repeat it.
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  [packed] = JSON.parse(execFileSync("npm", args, { cwd: www, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  for (const { path } of packed.files) {
    mkdirSync(join(installed, path, ".."), { recursive: true });
    cpSync(join(www, path), join(installed, path));
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
});

after(() => rmSync(project, { recursive: true }));

test("the package holds its readme, its licences and the built files, and no sources", () => {
  const paths = packed.files.map(({ path }) => path);
  for (const path of [
    "README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "package.json",
    "dist/index.js",
    "dist/index.d.ts",
    "dist/store-conformance.js",
    "dist/conformance.d.ts",
  ]) {
    assert.ok(paths.includes(path), `${path} is missing`);
  }
  assert.deepEqual(
    paths.filter((path) => path.includes("/") && !path.startsWith("dist/")),
    [],
  );
});

test("crate and package have one version", () => {
  const crate = /^version = "([^"]+)"/m.exec(readFileSync(join(www, "..", "Cargo.toml"), "utf8"))?.[1];
  assert.equal(packed.version, crate);
});

test("a strict project compiles against the types, with nothing but the DOM around it", () => {
  writeFileSync(
    join(project, "page.ts"),
    `import { indexedDBStore, init } from "countersign";
import { type Case, storeConformance } from "countersign/store-conformance";
export const ready: Promise<void> = init(new URL("https://example.org/"));
export const cases: Case[] = storeConformance(() => indexedDBStore("tests"));
`,
  );
  const tsc = join(www, "node_modules", ".bin", "tsc");
  const options = ["--strict", "--noEmit", "--skipLibCheck", "false", "--target", "ES2022", "--lib", "ES2022,DOM"];
  for (const [module, resolution] of [
    ["NodeNext", "NodeNext"],
    ["ESNext", "Bundler"],
  ]) {
    const args = [...options, "--types", "", "--module", module, "--moduleResolution", resolution, "page.ts"];
    execFileSync(tsc, args, { cwd: project, stdio: ["ignore", "inherit", "inherit"] });
  }
});

test("each export resolves to a file, and the raw glue is not exported", () => {
  const resolve = (specifier) =>
    execFileSync(process.execPath, ["--input-type=module", "-e", `console.log(import.meta.resolve("${specifier}"))`], {
      cwd: project,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  for (const name of Object.keys(exports)) {
    readFileSync(new URL(resolve(name.replace(/^\./, "countersign").replace("*", "de")).trim()));
  }
  assert.throws(() => resolve("countersign/dist/wasm/countersign.js"), /ERR_PACKAGE_PATH_NOT_EXPORTED/);
});
