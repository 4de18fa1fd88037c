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
    // `npm --prefix … test` hands its prefix to every npm below it: this one says its own. No package here needs its
    // install script, so none is run.
    const args = ["--prefix", www, "ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
    await must("npm", args, { env, cwd: www });
  }
  linkForTests();
}

// Node looks for a test's imports in the folders above the test, and www is not among them.
function linkForTests() {
  const link = join(top, "tests", "node_modules");
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) {
    symlinkSync(process.platform === "win32" ? join(www, "node_modules") : "../www/node_modules", link, "junction");
  }
}
