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
  for (const [target, { "out-name": name, flags }] of Object.entries(plan.targets)) {
    const args = ["--target", target, "--out-dir", glue, "--out-name", name, ...flags, module];
    await must("wasm-bindgen", args, { env });
    await optimise(join(glue, `${name}_bg.wasm`), plan["wasm-opt"].flags, env);
  }

  say("tsc …");
  rmSync(dist, { recursive: true, force: true });
  await must(join(www, "node_modules", ".bin", "tsc"), [], { env, cwd: www });
  // The raw types stay here: what a page may rely on is written by hand in src.
  cpSync(glue, join(dist, "wasm"), { recursive: true, filter: (path) => !path.endsWith(".d.ts") });
  for (const file of readdirSync(dist, { recursive: true })) {
    if (file.endsWith(".js")) await minify(join(dist, file));
  }

  for (const file of ["README.md", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(top, file), join(www, file));
});

// A page downloads these files; who reads the code finds it in src.
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
