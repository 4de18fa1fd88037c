// The npm packages of www, exactly as the lock file names them.
import { existsSync, lstatSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { must, say } from "./command.mjs";
import { top, www } from "./layout.mjs";

/** Installs the packages if there are none or the lock file is newer. */
export async function packages(env) {
  const installed = join(www, "node_modules", ".package-lock.json");
  const locked = join(www, "package-lock.json");
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(locked).mtimeMs) {
    say("Installing npm packages …");
    // No package here needs its install script, so none is run.
    await must("npm", ["ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"], { env: plain(env), cwd: www });
  }
  linkForTests();
}

// `npm --prefix www test` hands its own prefix to every npm below it, which would then install somewhere else.
function plain(env) {
  const { npm_config_prefix, npm_config_local_prefix, ...rest } = env;
  return rest;
}

// Node looks for a test's imports in the folders above the test, and www is not among them.
function linkForTests() {
  const link = join(top, "tests", "node_modules");
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) {
    symlinkSync(process.platform === "win32" ? join(www, "node_modules") : "../www/node_modules", link, "junction");
  }
}
