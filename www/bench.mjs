// Runs a benchmark of bench/ on the built package. Run: npm run bench -- open
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Advice, script } from "./scripts/command.mjs";
import { www } from "./scripts/layout.mjs";

await script(async () => {
  const names = readdirSync(join(www, "bench")).map((file) => file.replace(/\.mjs$/, ""));
  const [name] = process.argv.slice(2);
  if (!names.includes(name)) throw new Advice(`Name one of the benchmarks: ${names.join(", ")}.`);
  await import(`./bench/${name}.mjs`);
});
