// Builds the npm package into dist: cargo, wasm-bindgen, wasm-opt, tsc, esbuild. Run: npm run build
// `npm run build -- quick` is for trying a change: the same behaviour in seconds, from one large module under all names.
import { copyFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Advice, must, say, script } from "./scripts/command.mjs";
import { dist, glue, top, www } from "./scripts/layout.mjs";
import { matrix } from "./scripts/matrix.mjs";
import { packages } from "./scripts/packages.mjs";
import { toolchain, wasmTarget } from "./scripts/toolchain.mjs";

const quick = process.argv[2] === "quick";
// Other settings of the profile: cargo keeps what both kinds of build make side by side.
const hasty = {
  CARGO_PROFILE_RELEASE_OPT_LEVEL: "1",
  CARGO_PROFILE_RELEASE_LTO: "off",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
  CARGO_PROFILE_RELEASE_INCREMENTAL: "true",
};

await script(async () => {
  const env = await toolchain(process.env);
  await packages(env);
  const plan = await matrix();

  const modules = [];
  if (quick) {
    const module = await compile("countersign_all", plan.modules.countersign_all, plan, env);
    for (const name of Object.keys(plan.modules)) modules.push({ ...module, name });
  } else {
    for (const [name, flags] of Object.entries(plan.modules)) modules.push(await compile(name, flags, plan, env));
  }
  const [{ code }] = modules;
  const odd = modules.find((module) => module.code !== code);
  if (odd) {
    throw new Advice(
      `The glue of ${odd.name} is not that of ${modules[0].name}, and the package has one for all its modules. See what they import and export: the features of a module may not change that.`,
    );
  }
  writeFileSync(join(glue, `${plan.web["out-name"]}.js`), code);

  say("tsc, esbuild …");
  rmSync(dist, { recursive: true, force: true });
  await must(join(www, "node_modules", ".bin", "tsc"), ["--emitDeclarationOnly"], { env, cwd: www });
  // One file for each entry: a page without a bundler waits for one request, not for a chain of them. Who wants to read finds src.
  const { build } = await import("esbuild");
  await build({
    entryPoints: {
      index: join(www, "src", "index.ts"),
      "grants-element": join(www, "src", "grants-element.ts"),
      "store-conformance": join(www, "src", "conformance.ts"),
    },
    outdir: dist,
    bundle: true,
    loader: { ".css": "text" },
    minify: true,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  cpSync(join(www, "src", "locales"), join(dist, "locales"), { recursive: true });
  for (const { name, wasm } of modules) writeFileSync(join(dist, `${name}_bg.wasm`), wasm);

  for (const file of ["README.md", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(top, file), join(www, file));
});

// One module of the package: its bytes, and the code of its glue.
async function compile(name, own, { cargo, web, "wasm-opt": opt }, env) {
  say(`${name}: cargo rustc …`);
  // The cdylib alone: beside an rlib, cargo leaves link-time optimisation out.
  const build = ["rustc", "--locked", "--release", "--lib", "--crate-type=cdylib", "--target", wasmTarget];
  await must("cargo", quick ? build : [...build, ...cargo.flags, ...own], {
    env: quick
      ? { ...env, ...hasty }
      : { ...env, RUSTC_BOOTSTRAP: "1", CARGO_ENCODED_RUSTFLAGS: cargo.rustflags.join("\x1f") },
  });
  const metadata = JSON.parse(
    await must("cargo", ["metadata", "--locked", "--no-deps", "--format-version=1"], { env }),
  );
  const module = join(metadata.target_directory, wasmTarget, "release", "countersign.wasm");

  say(`${name}: wasm-bindgen, wasm-opt …`);
  rmSync(glue, { recursive: true, force: true });
  const { "out-name": base, flags } = web;
  await must("wasm-bindgen", ["--target", "web", "--out-dir", glue, "--out-name", base, ...flags, module], { env });
  const wasm = join(glue, `${base}_bg.wasm`);
  const code = join(glue, `${base}.js`);
  if (quick) return { name, wasm: readFileSync(wasm), code: watch(readFileSync(code, "utf8")) };
  const names = await optimise(wasm, opt.flags, env);
  return { name, wasm: readFileSync(wasm), code: await shorten(code, names) };
}

// The names under which the module and its glue know each other are long, hold hashes, and stand in both files:
// wasm-opt makes them short and prints what it did.
async function optimise(wasm, flags, env) {
  const wasmOpt = join(www, "node_modules", ".bin", "wasm-opt");
  const flag = "--minify-imports-and-exports-and-modules";
  const names = JSON.parse(bare(await must(wasmOpt, [wasm, "--output", `${wasm}.small`, ...flags, flag], { env })));
  renameSync(`${wasm}.small`, wasm);
  // Imports are `[module, name, short name]`, exports `[name, short name]`; the one module becomes "a".
  return {
    module: names.imports[0][0],
    properties: Object.fromEntries([...names.imports.map(([, long, short]) => [long, short]), ...names.exports]),
  };
}

// The glue with the module's short names.
async function shorten(path, { module, properties }) {
  const { transform } = await import("esbuild");
  const mangleProps = new RegExp(`^(${Object.keys(properties).join("|")})$`);
  const code = watch(bare(readFileSync(path, "utf8"))).replaceAll(JSON.stringify(module), '"a"');
  return (await transform(code, { mangleProps, mangleCache: properties })).code;
}

// Text with names, without the crate's own hash, which each choice of features changes.
function bare(text) {
  return text.replaceAll(/(?<=_countersign_)[0-9a-f]{16}/g, "");
}

// Has the glue tell of traps (src/trap.ts), and lets callbacks of a module that trapped do nothing: whoever still holds
// one has not to do with the reason.
function watch(code) {
  const changes = [
    [/\bwasm = (wasmInstance|instance)\.exports;/g, "wasm = watched($1.exports);", 2],
    [/throw new Error\('Cannot invoke closure from previous WASM instance'\);/g, "return undefined;", 2],
  ];
  let changed = `import { watched } from "../trap.js";\n${code}`;
  for (const [found, replacement, times] of changes) {
    const count = changed.match(found)?.length ?? 0;
    if (count !== times) throw new Error(`The glue of this wasm-bindgen has ${found} ${count} times, not ${times}.`);
    changed = changed.replaceAll(found, replacement);
  }
  return changed;
}
