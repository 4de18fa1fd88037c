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
  await must("cargo", ["rustc", "--locked", "--release", "--lib", "--crate-type", "cdylib", "--target", wasmTarget], { env });
  const metadata = JSON.parse(
    await must("cargo", ["metadata", "--locked", "--no-deps", "--format-version=1"], { env }),
  );
  const module = join(metadata.target_directory, wasmTarget, "release", "countersign.wasm");

  say("wasm-bindgen, wasm-opt …");
  rmSync(glue, { recursive: true, force: true });
  for (const [target, { "out-name": name, flags }] of Object.entries(plan.targets)) {
    const args = ["--target", target, "--out-dir", glue, "--out-name", name, ...flags, module];
    await must("wasm-bindgen", args, { env });
    const names = await optimise(join(glue, `${name}_bg.wasm`), plan["wasm-opt"].flags, env);
    await minify(join(glue, `${name}.js`), names);
  }

  say("tsc …");
  rmSync(dist, { recursive: true, force: true });
  // Twice: comments belong into the types, where an editor shows them, and not into what a page downloads.
  const tsc = join(www, "node_modules", ".bin", "tsc");
  await must(tsc, ["--emitDeclarationOnly"], { env, cwd: www });
  await must(tsc, ["--declaration", "false", "--removeComments"], { env, cwd: www });
  // The raw types stay here: what a page may rely on is written by hand in src.
  cpSync(glue, join(dist, "wasm"), { recursive: true, filter: (path) => !path.endsWith(".d.ts") });

  for (const file of ["README.md", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(top, file), join(www, file));
});

// The names under which the module and its glue know each other are long, hold hashes, and stand in both files:
// wasm-opt makes them short and prints what it did.
async function optimise(wasm, flags, env) {
  const wasmOpt = join(www, "node_modules", ".bin", "wasm-opt");
  const shorten = "--minify-imports-and-exports-and-modules";
  const names = JSON.parse(await must(wasmOpt, [wasm, "--output", `${wasm}.small`, ...flags, shorten], { env }));
  renameSync(`${wasm}.small`, wasm);
  return names;
}

// Generated code: nobody reads it in a debugger, and its comments alone outweigh the rest of the JavaScript.
async function minify(path, { imports, exports }) {
  const { transform } = await import("esbuild");
  const short = Object.fromEntries([...imports.map(([, long, name]) => [long, name]), ...exports]);
  // All imports are of one module, which wasm-opt calls "a".
  const readable = readFileSync(path, "utf8").replace(JSON.stringify(imports[0][0]), '"a"');
  const { code } = await transform(readable, {
    minify: true,
    format: "esm",
    target: "es2022",
    mangleProps: new RegExp(`^(${Object.keys(short).join("|")})$`),
    mangleCache: short,
  });
  writeFileSync(path, code);
}
