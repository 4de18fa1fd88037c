// Builds the npm package into dist: cargo, wasm-bindgen, wasm-opt, tsc. Run: npm run build
import { copyFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
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
  // The cdylib alone: beside an rlib, cargo would leave link-time optimisation out, and with it a third of the savings.
  await must("cargo", ["rustc", "--locked", "--release", "--lib", "--crate-type", "cdylib", "--target", wasmTarget], {
    env,
  });
  const metadata = JSON.parse(
    await must("cargo", ["metadata", "--locked", "--no-deps", "--format-version=1"], { env }),
  );
  const module = join(metadata.target_directory, wasmTarget, "release", "countersign.wasm");

  say("wasm-bindgen, wasm-opt …");
  rmSync(glue, { recursive: true, force: true });
  for (const [target, { "out-name": name, flags }] of Object.entries(plan.targets)) {
    const args = ["--target", target, "--out-dir", glue, "--out-name", name, ...flags, module];
    await must("wasm-bindgen", args, { env });
    await optimise(join(glue, `${name}_bg.wasm`), plan["wasm-opt"].flags, env);
  }

  say("tsc …");
  rmSync(dist, { recursive: true, force: true });
  // Twice: comments belong into the types, where an editor shows them, and not into what a page downloads.
  const tsc = join(www, "node_modules", ".bin", "tsc");
  await must(tsc, ["--emitDeclarationOnly"], { env, cwd: www });
  await must(tsc, ["--declaration", "false", "--removeComments"], { env, cwd: www });
  // The raw types stay here: what a page may rely on is written by hand in src.
  cpSync(glue, join(dist, "wasm"), { recursive: true, filter: (path) => !path.endsWith(".d.ts") });
  for (const { "out-name": name } of Object.values(plan.targets)) await minify(join(dist, "wasm", `${name}.js`));

  for (const file of ["README.md", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(top, file), join(www, file));
});

// Generated code: nobody reads it in a debugger, and its comments alone outweigh the rest of the JavaScript.
async function minify(path) {
  const { transform } = await import("esbuild");
  const { code } = await transform(readFileSync(path, "utf8"), { minify: true, format: "esm", target: "es2022" });
  writeFileSync(path, code);
}

async function optimise(wasm, flags, env) {
  const wasmOpt = join(www, "node_modules", ".bin", "wasm-opt");
  await must(wasmOpt, [wasm, "--output", `${wasm}.small`, ...flags], { env });
  renameSync(`${wasm}.small`, wasm);
}
