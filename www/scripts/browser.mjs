// A Chromium and the chromedriver that goes with it.
import { Advice, find, run } from "./command.mjs";
import * as debian from "./debian.mjs";

const browsers = [
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
const drivers = [
  "chromedriver",
  "/usr/bin/chromedriver",
  "/usr/lib/chromium/chromedriver",
  "/usr/lib/chromium-browser/chromedriver",
];

/** Returns `env` with CHROME and CHROMEDRIVER set to two programs of one major version, installing them if need be. */
export async function browser(env) {
  let seen = await look(env);
  if (seen.pair === undefined && env.CHROME === undefined && env.CHROMEDRIVER === undefined) {
    // Chromium alone brings no font, and a page without any font draws no text.
    await debian.install(["chromium", "chromium-driver", "fonts-dejavu-core"], "Chromium and its chromedriver", env);
    seen = await look(env);
  }
  if (seen.pair === undefined) {
    throw new Advice(
      `Set CHROME and CHROMEDRIVER to a Chromium and a chromedriver of the same major version (found: ${seen.found}).`,
    );
  }
  return { ...env, CHROME: seen.pair[0].path, CHROMEDRIVER: seen.pair[1].path };
}

async function look(env) {
  const someBrowsers = await versions(env.CHROME === undefined ? browsers : [env.CHROME], env);
  const someDrivers = await versions(env.CHROMEDRIVER === undefined ? drivers : [env.CHROMEDRIVER], env);
  const pairs = someBrowsers.flatMap((one) => someDrivers.map((other) => [one, other]));
  const all = [...someBrowsers, ...someDrivers];
  return {
    pair: pairs.find(([one, other]) => one.major === other.major),
    found: all.map(({ path, major }) => `${path} ${major}`).join(", ") || "none",
  };
}

// Names that are not there, and stand-ins that only ask for an installation, print no version and fall out.
async function versions(names, env) {
  const list = [];
  for (const name of names) {
    const path = find([name], env);
    if (path === undefined) continue;
    const { code, output } = await run(path, ["--version"], { env, minutes: 1 });
    const major = /\b(\d+)\.\d+\.\d+/.exec(output)?.[1];
    if (code === 0 && major !== undefined) list.push({ path, major });
  }
  return list;
}
