// Every recorded and hand-written model stream against its verdict, whole, byte by byte and cut at every offset. Run:
// npm run fixtures
//
// The recorded collection is read from ../shared/fixtures beside the repository, or from the folder in
// COUNTERSIGN_FIXTURES; where there is none, the project's own cases run alone.
import { run, script } from "./scripts/command.mjs";
import { fixtures, judge } from "./scripts/count.mjs";
import { toolchain } from "./scripts/toolchain.mjs";

// The release profile is made for size; here the time counts, of the build too.
const fast = {
  CARGO_PROFILE_RELEASE_LTO: "off",
  CARGO_PROFILE_RELEASE_OPT_LEVEL: "3",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
};

await script(async () => {
  const env = { ...(await toolchain(process.env)), ...fast, CARGO_TERM_COLOR: "never" };
  const test = ["test", "--locked", "--release", "--no-fail-fast", "--test", "fixtures", "--", "--nocapture"];
  const { code, output } = await run("cargo", test, { env });
  if (code !== 0) process.stdout.write(output);
  for (const line of output.matchAll(/\bfixtures: (.*)$/gm)) console.log(line[1]);
  const { passed, failed } = judge(fixtures, code, output);
  if (failed > 0) process.exitCode = 1;
  console.log(`${passed} passed, ${failed} failed`);
});
