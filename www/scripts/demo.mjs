// The demo as a folder of files that works from any static host: the rehearsal model answers inside the page.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { META_POLICY } from "../demo/policy.mjs";
import { Advice } from "./command.mjs";
import { dist, www } from "./layout.mjs";

const demo = join(www, "demo");

/** Writes the static demo to `folder`, in place of what is there. The package must have been built. */
export async function writeDemo(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of ["demo.css", "chat.css", "desk.css", "gallery.css", "icon.svg"])
    cpSync(join(demo, file), join(folder, file));
  for (const file of ["index.js", "grants-element.js", "countersign_bg.wasm", "countersign_all_bg.wasm", "locales"])
    cpSync(join(dist, file), join(folder, "dist", file), { recursive: true });
  // Some hosts know no type for .mjs, and a browser runs no module without one: the scripts become .js.
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(demo, "demo.mjs"), join(demo, "gallery.mjs")],
    outdir: folder,
    bundle: true,
    splitting: true,
    external: ["./dist/*"],
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  const model = ['<meta name="demo-model" content="v1" />', '<meta name="demo-model" content="in-page" />'];
  for (const [page, ...changes] of [
    ["index.html", model, ['src="demo.mjs"', 'src="demo.js"']],
    ["gallery.html", ['src="gallery.mjs"', 'src="gallery.js"']],
  ]) {
    const html = readFileSync(join(demo, page), "utf8");
    writeFileSync(join(folder, page), forStaticHosts(page, html, changes));
  }
}

/** A static host answers no model request and sends no policy. */
function forStaticHosts(page, html, changes) {
  const first = '<meta charset="utf-8" />';
  const policy = [first, `${first}\n    <meta http-equiv="content-security-policy" content="${META_POLICY}" />`];
  return [policy, ...changes].reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Advice(`www/demo/${page} holds no ${before}: the static demo needs it.`);
    return text.replace(before, after);
  }, html);
}
