// Child processes: found on PATH, run to their end, their output shown or kept.
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { top } from "./layout.mjs";

/** What a person has to do before the work can go on, as one sentence: shown without a stack trace. */
export class Advice extends Error {}

/** The first of `names` that is an executable file on the PATH of `env`. A name with a slash is taken as a path. */
export function find(names, env) {
  for (const name of names) {
    const folders = name.includes("/") ? [""] : (env.PATH ?? "").split(delimiter);
    for (const folder of folders) {
      const path = folder === "" ? name : join(folder, name);
      if (isExecutable(path)) return path;
    }
  }
  return undefined;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** `env` with `folder` searched first. */
export function withPath(env, folder) {
  return { ...env, PATH: [folder, ...(env.PATH ? [env.PATH] : [])].join(delimiter) };
}

const running = new Set();
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];

// Listened to only while children run: a script that has none ends, or forwards its signals, in its own way.
function follow(child) {
  if (running.size === 0) for (const signal of signals) process.on(signal, endAll);
  running.add(child);
}

function unfollow(child) {
  running.delete(child);
  if (running.size === 0) for (const signal of signals) process.off(signal, endAll);
}

function endAll(signal) {
  for (const child of running) endGroup(child, signal);
  process.exit(1);
}

// A child leads a process group of its own, so that its whole tree (cargo, a test runner, a driver, a browser) ends with it.
function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}

/**
 * Runs a command with closed stdin and returns `{code, output, stdout}`, where `output` is stdout and stderr as they came;
 * never rejects for a failing command. `code` is null if it could not be started, was killed, or took more than `minutes`. With `show`, the output goes to stderr as it comes:
 * stdout belongs to what a script has to say itself.
 */
export function run(command, args, { env = process.env, cwd = top, show = false, minutes = 30 } = {}) {
  return new Promise((done) => {
    let output = "";
    let stdout = "";
    const child = spawn(command, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"], detached: true });
    follow(child);
    const timer = setTimeout(() => {
      output += `\n${command} was ended after ${minutes} minutes.\n`;
      endGroup(child, "SIGKILL");
    }, minutes * 60_000);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => {
        output += text;
        if (stream === child.stdout) stdout += text;
        if (show) process.stderr.write(text);
      });
    }
    const end = (code) => {
      clearTimeout(timer);
      unfollow(child);
      done({ code, output, stdout });
    };
    child.on("error", (error) => {
      output += `${error.message}\n`;
      end(null);
    });
    child.on("close", (code) => end(code));
  });
}

/** Runs a command that has to succeed and returns its stdout; shows all its output if it does not. */
export async function must(command, args, options = {}) {
  const { code, output, stdout } = await run(command, args, options);
  if (code === 0) return stdout;
  if (!options.show) process.stderr.write(output);
  throw new Advice(`"${[command, ...args].join(" ")}" failed; its output stands above.`);
}

/** Runs a script's `main`; a failure a person can mend is shown as its sentence alone. */
export async function script(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Advice ? error.message : error);
    process.exitCode = 1;
  }
}

/** Tells a waiting person what takes its time. */
export function say(text) {
  console.error(text);
}
