/** The switch for who decides, beside the cards. */

/** What the element's `by` is for each choice, what the model reads then, and what a person may wonder about. */
const DECIDERS = {
  self: { by: undefined, told: "run_owner", note: ": it was your own request" },
  other: { by: "grace", told: "other_user", note: '; the cards say "you" to Grace now' },
  unidentified: { by: null, told: "unknown", note: ": the page does not know who sits here" },
};

/**
 * @param {HTMLFieldSetElement} group its radio buttons have the choices as values
 * @param {HTMLElement & { by?: string | null }} approvals
 * @param {HTMLElement} told where it is said what the model reads of it
 * @param {HTMLElement} said where the rest is said
 */
export function switchDecider(group, approvals, told, said) {
  const choose = () => {
    const { by, told: token, note } = DECIDERS[group.querySelector(":checked").value];
    approvals.by = by;
    told.textContent = `decided_by: ${token}`;
    said.textContent = note;
  };
  group.addEventListener("change", choose);
  choose();
}
