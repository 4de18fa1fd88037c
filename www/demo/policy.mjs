/** The security policies under which the demo and the tests' pages run. Nothing of Node in here. */

/** Its own scripts, wasm and styles, and no way to turn text into markup. */
const DEMO = {
  "default-src": "'none'",
  "script-src": "'self' 'wasm-unsafe-eval'",
  // A person may point the demo at a model server of their own. The package itself refuses plain http elsewhere.
  "connect-src": "'self' https: http://localhost:* http://127.0.0.1:*",
  "style-src": "'self'",
  "img-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
  "require-trusted-types-for": "'script'",
  "trusted-types": "'none'",
};

/** The policy of the demo page. */
export const DEMO_POLICY = written(DEMO);

/** The policy of the demo page in a `<meta>` element, for hosts that send no headers: frames cannot be ruled there. */
export const META_POLICY = written({ ...DEMO, "frame-ancestors": undefined });

/** The policy of a page that needs no style sheet of its own: the strictest the package works under. */
export const STRICT_POLICY = written({
  ...DEMO,
  "connect-src": "'self'",
  "style-src": "'none'",
  "img-src": undefined,
});

function written(directives) {
  return Object.entries(directives)
    .filter(([, value]) => value !== undefined)
    .map((entry) => entry.join(" "))
    .join("; ");
}
