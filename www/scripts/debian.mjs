// Packages of the system: installed where that needs no question (Debian, as root), asked for elsewhere.
import { Advice, find, must, say } from "./command.mjs";

let listsAreFresh = false;

/** Installs Debian packages, or throws the sentence that says which ones to install. */
export async function install(packages, purpose, env) {
  const apt = find(["/usr/bin/apt-get"], env);
  if (apt === undefined || process.getuid?.() !== 0) {
    throw new Advice(`Install ${purpose} (on Debian: sudo apt-get install ${packages.join(" ")}) and run this again.`);
  }
  const quiet = { env: { ...env, DEBIAN_FRONTEND: "noninteractive" }, cwd: "/" };
  say(`Installing ${packages.join(", ")} by apt-get …`);
  if (!listsAreFresh) await must(apt, ["update", "-qq"], quiet);
  listsAreFresh = true;
  await must(apt, ["install", "-y", "-qq", "--no-install-recommends", ...packages], quiet);
}
