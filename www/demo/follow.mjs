/** Keeps the end of a growing chat in view, unless the person has scrolled away from it. */

/** What is kept free above the cards and below the composer, in CSS pixels. */
const MARGIN = 12;

/** How near to where the page scrolled by itself still counts as being there, in CSS pixels. */
const NEAR = 80;

/**
 * @param {HTMLElement} chat its end is the composer
 * @param {HTMLElement} deciding the part with the cards: while one waits, its beginning is not scrolled out of view
 * @param {() => boolean} waiting whether a card waits
 */
export function follow(chat, deciding, waiting) {
  let following = true;
  const end = () => {
    const below = chat.getBoundingClientRect().bottom + MARGIN - window.innerHeight;
    return waiting() ? Math.min(below, deciding.getBoundingClientRect().top - MARGIN) : below;
  };
  window.addEventListener(
    "scroll",
    () => {
      following = end() <= NEAR;
    },
    { passive: true },
  );
  new ResizeObserver(() => {
    const missing = end();
    if (following && missing > 0) window.scrollBy({ top: missing, behavior: "instant" });
  }).observe(chat);
}
