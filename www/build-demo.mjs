// Builds the package and writes the demo for static hosts to dist-demo. Run: npm run build:demo
import { join } from "node:path";
import { must, say, script } from "./scripts/command.mjs";
import { writeDemo } from "./scripts/demo.mjs";
import { www } from "./scripts/layout.mjs";

await script(async () => {
  await must(process.execPath, [join(www, "build.mjs")], { show: true });
  const folder = join(www, "dist-demo");
  await writeDemo(folder);
  say(`The demo is in ${folder}: any static host serves it, under any path.`);
});
