// What the Rust side needs: a C linker, the wasm target, rustfmt, clippy, and wasm-bindgen at the version of Cargo.lock.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Advice, find, must, run, say, withPath } from "./command.mjs";
import * as debian from "./debian.mjs";
import { cache, top } from "./layout.mjs";

const tools = ["wasm-bindgen", "wasm-bindgen-test-runner"];
export const wasmTarget = "wasm32-unknown-unknown";

/** Adds what is missing and returns `env` with the tools on its PATH. */
export async function toolchain(env) {
  env = await cargo(env);
  // Rust links build scripts, procedural macros and the native tests through the system's C compiler.
  if (find(["cc"], env) === undefined) await debian.install(["gcc", "libc6-dev"], "a C compiler named cc", env);
  await target(env);
  await component("rustfmt", ["fmt", "--version"], env);
  await component("clippy", ["clippy", "--version"], env);
  await source(env);
  return await bindgen(env);
}

async function cargo(env) {
  if (find(["cargo"], env) === undefined) {
    // rustup changes the PATH of login shells only; scripts often run without one.
    env = withPath(env, join(env.CARGO_HOME || join(homedir(), ".cargo"), "bin"));
  }
  const { code, output } = await run("cargo", ["--version"], { env });
  if (code === 0) return env;
  throw new Advice(
    find(["cargo"], env) === undefined
      ? "Install Rust by rustup (https://rustup.rs) and run this again."
      : `Rust is not ready to use: ${output.trim()}`,
  );
}

async function target(env) {
  const { code, output } = await run("rustc", ["--print", "target-libdir", "--target", wasmTarget], { env });
  if (code === 0 && existsSync(output.trim())) return;
  await rustup(["target", "add", wasmTarget], env);
}

/** The source of the standard library, of which the npm package builds its own copy. */
async function source(env) {
  const sysroot = (await must("rustc", ["--print", "sysroot"], { env })).trim();
  const library = join(sysroot, "lib", "rustlib", "src", "rust", "library", "std", "Cargo.toml");
  if (!existsSync(library)) await rustup(["component", "add", "rust-src"], env);
}

async function component(name, probe, env) {
  if ((await run("cargo", probe, { env })).code !== 0) await rustup(["component", "add", name], env);
}

async function rustup(args, env) {
  if (find(["rustup"], env) === undefined) {
    throw new Advice(`Install Rust by rustup (https://rustup.rs), since "rustup ${args.join(" ")}" is needed here.`);
  }
  say(`rustup ${args.join(" ")} …`);
  await must("rustup", args, { env });
}

/** The version of wasm-bindgen in Cargo.lock; the command-line tool works with exactly this one. */
export function bindgenVersion() {
  const lock = readFileSync(join(top, "Cargo.lock"), "utf8");
  const version = /^name = "wasm-bindgen"\nversion = "([^"]+)"/m.exec(lock)?.[1];
  if (version === undefined) throw new Advice("Cargo.lock names no wasm-bindgen: restore it from git.");
  return version;
}

async function bindgen(env) {
  const version = bindgenVersion();
  const home = join(cache, `wasm-bindgen-${version}`);
  const cached = withPath(env, join(home, "bin"));
  if (await hasBindgen(version, cached)) {
    offer(home, env);
    return cached;
  }

  say(`Building wasm-bindgen-cli ${version}, once; this takes some minutes …`);
  mkdirSync(cache, { recursive: true });
  // Built beside its place and moved there whole: an interrupted build is never taken for a finished one.
  const draft = mkdtempSync(join(cache, "draft-"));
  try {
    const args = ["install", "wasm-bindgen-cli", "--version", version, "--root", draft];
    // In its own target directory, which cargo removes; the project's flags are not meant for a tool either.
    const { CARGO_TARGET_DIR, CARGO_BUILD_TARGET, RUSTFLAGS, ...clean } = env;
    // The lock file of a published tool may name a version that was yanked since.
    const locked = await run("cargo", [...args, "--locked"], { env: clean, cwd: cache });
    if (locked.code !== 0) await must("cargo", args, { env: clean, cwd: cache });
    rmSync(home, { recursive: true, force: true });
    renameSync(draft, home);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  if (await hasBindgen(version, cached)) {
    offer(home, env);
    return cached;
  }
  throw new Advice(`wasm-bindgen ${version} was built but does not run: remove ${home} and run this again.`);
}

/** Links the tools to where cargo keeps its own, so that wasm-pack finds them too; what stands there already stays. */
function offer(home, env) {
  const bin = join(env.CARGO_HOME || join(homedir(), ".cargo"), "bin");
  for (const tool of tools) {
    try {
      symlinkSync(join(home, "bin", tool), join(bin, tool));
    } catch {
      // Another version is installed there, or there is no such folder: wasm-pack then helps itself.
    }
  }
}

async function hasBindgen(version, env) {
  for (const tool of tools) {
    const { code, output } = await run(tool, ["--version"], { env });
    if (code !== 0 || !output.split(/\s+/).includes(version)) return false;
  }
  return true;
}
