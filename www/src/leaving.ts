/**
 * Firefox ends a page's requests when somebody begins to leave it, which may be long before the page is told that it
 * goes. What fails in between has not failed: its result is lost, and the next page is to find it so.
 */

/** How long a failure may be held back, in milliseconds: somebody may also stay, or have begun a download. */
const PATIENCE = 5000;

let begun = Number.NEGATIVE_INFINITY;

/** Notes that somebody begins to leave the page. */
export function noteLeaving(): void {
  begun = performance.now();
}

/** Resolves once it is clear that the page stays, as far as that can be: mostly at once. */
export async function stays(): Promise<void> {
  const wait = begun + PATIENCE - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}
