// Builds the npm package into dist: cargo, wasm-bindgen, wasm-opt, tsc. Run: npm run build
import { copyFileSync, cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must, say, script } from "./scripts/command.mjs";
import { dist, glue, top, www } from "./scripts/layout.mjs";
import { matrix } from "./scripts/matrix.mjs";
import { packages } from "./scripts/packages.mjs";
import { toolchain, wasmTarget } from "./scripts/toolchain.mjs";

await script(async () => {
  const env = await toolchain(process.env);
  await packages(env);
  const plan = await matrix();

  say("cargo rustc …");
  const { flags, rustflags } = plan.cargo;
  await must(
    "cargo",
    // The cdylib alone: beside an rlib, cargo leaves link-time optimisation out.
    ["rustc", "--locked", "--release", "--lib", "--crate-type", "cdylib", "--target", wasmTarget, ...flags],
    { env: { ...env, RUSTC_BOOTSTRAP: "1", CARGO_ENCODED_RUSTFLAGS: rustflags.join("\x1f") } },
  );
  const metadata = JSON.parse(
    await must("cargo", ["metadata", "--locked", "--no-deps", "--format-version=1"], { env }),
  );
  const module = join(metadata.target_directory, wasmTarget, "release", "countersign.wasm");

  say("wasm-bindgen, wasm-opt …");
  rmSync(glue, { recursive: true, force: true });
  let renamed;
  for (const [target, { "out-name": name, flags }] of Object.entries(plan.targets)) {
    const args = ["--target", target, "--out-dir", glue, "--out-name", name, ...flags, module];
    await must("wasm-bindgen", args, { env });
    renamed = await optimise(join(glue, `${name}_bg.wasm`), plan["wasm-opt"].flags, env);
  }

  say("tsc …");
  rmSync(dist, { recursive: true, force: true });
  await must(join(www, "node_modules", ".bin", "tsc"), [], { env, cwd: www });
  // The raw types stay here: what a page may rely on is written by hand in src.
  cpSync(glue, join(dist, "wasm"), { recursive: true, filter: (path) => !path.endsWith(".d.ts") });
  const wasm = join(dist, "wasm");
  for (const file of readdirSync(dist)) if (file.endsWith(".js")) await minify(join(dist, file));
  for (const { "out-name": name } of Object.values(plan.targets)) await minify(join(wasm, `${name}.js`), renamed);

  for (const file of ["README.md", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(top, file), join(www, file));
});

// The names under which the module and its glue know each other are long, hold hashes, and stand in both files:
// wasm-opt makes them short and prints what it did.
async function optimise(wasm, flags, env) {
  const wasmOpt = join(www, "node_modules", ".bin", "wasm-opt");
  const shorten = "--minify-imports-and-exports-and-modules";
  const names = JSON.parse(await must(wasmOpt, [wasm, "--output", `${wasm}.small`, ...flags, shorten], { env }));
  renameSync(`${wasm}.small`, wasm);
  // Imports are `[module, name, short name]`, exports `[name, short name]`; the one module becomes "a".
  return {
    modules: [[names.imports[0][0], "a"]],
    properties: Object.fromEntries([...names.imports.map(([, long, short]) => [long, short]), ...names.exports]),
  };
}

// A page downloads these files; who wants to read the code finds it in src.
async function minify(path, { modules, properties } = {}) {
  const { transform } = await import("esbuild");
  let code = readFileSync(path, "utf8");
  for (const [long, short] of modules ?? []) code = code.replaceAll(JSON.stringify(long), JSON.stringify(short));
  const mangle = properties && {
    mangleProps: new RegExp(`^(${Object.keys(properties).join("|")})$`),
    mangleCache: properties,
  };
  const small = await transform(code, { minify: true, format: "esm", target: "es2022", ...mangle });
  writeFileSync(path, small.code);
}
