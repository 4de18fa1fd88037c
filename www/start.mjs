// Builds the package and serves the demo page until it is stopped. Run: npm start
import { spawn } from "node:child_process";
import { join } from "node:path";
import { must, script } from "./scripts/command.mjs";
import { www } from "./scripts/layout.mjs";

await script(async () => {
  await must(process.execPath, [join(www, "build.mjs")], { show: true });
  const server = spawn(process.execPath, [join(www, "demo", "server.mjs")], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => server.kill(signal));
  process.exitCode = await new Promise((done) => server.on("close", (code) => done(code ?? 1)));
});
