/** The switch for who decides, beside the cards. */

/** What the element's `by` is for each choice, and what the model reads then. */
const DECIDERS = {
  self: { by: undefined, told: "run_owner" },
  other: { by: "grace", told: "other_user" },
  unidentified: { by: null, told: "unknown" },
};

/**
 * @param {HTMLFieldSetElement} group its radio buttons have the choices as values
 * @param {HTMLElement & { by?: string | null }} approvals
 * @param {HTMLElement} told where it is said what the model reads of it
 */
export function switchDecider(group, approvals, told) {
  const choose = () => {
    const { by, told: token } = DECIDERS[group.querySelector(":checked").value];
    approvals.by = by;
    told.textContent = `decided_by: ${token}`;
  };
  group.addEventListener("change", choose);
  choose();
}
