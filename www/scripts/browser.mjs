// A Chromium with the chromedriver that goes with it, and a Firefox.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Advice, find, run } from "./command.mjs";
import * as debian from "./debian.mjs";
import { top } from "./layout.mjs";

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

const firefoxes = ["firefox", "firefox-esr", "/Applications/Firefox.app/Contents/MacOS/firefox"];

/** Returns `env` with CHROME, CHROMEDRIVER and FIREFOX set, installing what is missing. */
export async function browser(env) {
  return await firefox(await chromium(env));
}

/**
 * Does `work` with an environment in which wasm-bindgen's test runner starts the browser in CHROME: only a file of the
 * driver's own can tell it so.
 */
export async function withDriver(env, work) {
  const folder = mkdtempSync(join(tmpdir(), "countersign-"));
  try {
    const capabilities = JSON.parse(readFileSync(join(top, "tests", "webdriver.json"), "utf8"));
    capabilities["goog:chromeOptions"].binary = env.CHROME;
    const file = join(folder, "webdriver.json");
    writeFileSync(file, JSON.stringify(capabilities));
    return await work({ ...env, WASM_BINDGEN_TEST_WEBDRIVER_JSON: file });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** CHROME and CHROMEDRIVER are two programs of one major version. */
async function chromium(env) {
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

async function firefox(env) {
  const look = () => versions(env.FIREFOX === undefined ? firefoxes : [env.FIREFOX], env);
  let [found] = await look();
  if (found === undefined && env.FIREFOX === undefined) {
    await debian.install(["firefox-esr"], "Firefox", env);
    [found] = await look();
  }
  if (found === undefined) throw new Advice("Set FIREFOX to the program of a Firefox and run this again.");
  return { ...env, FIREFOX: found.path };
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
    const major = /\b(\d+)\.\d+/.exec(output)?.[1];
    if (code === 0 && major !== undefined) list.push({ path, major });
  }
  return list;
}
