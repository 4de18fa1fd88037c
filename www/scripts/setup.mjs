// Sets up everything a fresh clone needs; does nothing, and quickly, where all is there. Run: npm run setup
import { browser } from "./browser.mjs";
import { say, script } from "./command.mjs";
import { packages } from "./packages.mjs";
import { bindgenVersion, toolchain } from "./toolchain.mjs";

await script(async () => {
  const env = await browser(await toolchain(process.env));
  await packages(env);
  say(`Ready: wasm-bindgen ${bindgenVersion()}, ${env.CHROME}, ${env.CHROMEDRIVER}, ${env.FIREFOX}.`);
});
