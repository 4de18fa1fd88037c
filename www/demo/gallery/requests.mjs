/** Cards of what a tool asks for while it runs. */

const CALL = [["party__plan", {}]];

/** A tool that asks for this, and ends with the answer. */
export const asks =
  (spec) =>
  ({ pendingRequest }) =>
  (_, { answer }) =>
    answer ? "Planned." : pendingRequest(spec);

const form = (kind, prompt, properties, required = []) =>
  asks({ kind, prompt, data: { schema: { type: "object", properties, required } } });

const FIELDS = {
  name: { type: "string", title: "Name of the host", description: "As it stands on the invitation." },
  mail: { type: "string", title: "Mail", format: "email" },
  site: { type: "string", title: "Page", format: "uri", default: "https://example.org/tasting" },
  guests: { type: "integer", title: "Guests", minimum: 2, maximum: 12 },
  budget: { type: "number", title: "Budget", default: 49.5 },
  day: { type: "string", title: "Day", format: "date", default: "2026-03-01" },
  start: { type: "string", title: "Beginning", format: "date-time" },
  drink: {
    type: "string",
    title: "Drink",
    enum: ["tea", "milk"],
    enumNames: ["Black tea", "Cold milk"],
    default: "tea",
  },
  kinds: { type: "array", title: "Cookies", items: { type: "string", enum: ["oat", "ginger", "almond"] } },
  indoors: { type: "boolean", title: "Indoors, whatever the weather", default: true },
};

export const ANSWERABLE = form("input", "What is the tasting to be like?", FIELDS, ["name", "guests"]);

/** An authorization, by its URL. */
export const SIGN_IN = asks({
  kind: "authorization",
  prompt: "The calendar wants to know that it is you.",
  url: "https://calendar.example/sign-in?client=tasting&scope=add",
});

/** Has the form say what does not fit, as a press of its button does, but leaves the reader where they are. */
async function complain({ element }) {
  const { scrollX, scrollY } = window;
  const { value } = element.shadowRoot.querySelector("[part~='form']");
  if (value !== "") throw new Error("The form was to have problems.");
  element.shadowRoot.activeElement?.blur();
  scrollTo(scrollX, scrollY);
}

export const REQUESTS = [
  { name: "input", title: "Values: every kind of field", calls: CALL, run: ANSWERABLE },
  {
    name: "input-problem",
    title: "Values that do not fit",
    calls: CALL,
    run: ANSWERABLE,
    act: complain,
  },
  {
    name: "question",
    title: "A question",
    calls: CALL,
    run: form("question", "Which day suits everybody?", {
      day: {
        type: "string",
        title: "Day",
        oneOf: [
          { const: "sat", title: "Saturday" },
          { const: "sun", title: "Sunday" },
        ],
      },
    }),
  },
  { name: "authorization", title: "An authorization", calls: CALL, run: SIGN_IN },
  {
    name: "unknown-kind",
    title: "A kind that only the page knows",
    calls: CALL,
    run: asks({ kind: "example/fingerprint", prompt: "Put your finger on the reader." }),
  },
];
