/** The custom properties and the parts of `<countersign-approvals>`, as its source documents them. */

/** `kind` is what the page has a person set it by. */
export const TOKENS = [
  { name: "--countersign-surface", kind: "color", about: "The card's ground" },
  { name: "--countersign-ink", kind: "color", about: "Text" },
  { name: "--countersign-muted", kind: "color", about: "Quieter text, and the border of fields" },
  { name: "--countersign-line", kind: "color", about: "The card's border" },
  { name: "--countersign-field", kind: "color", about: "The ground of arguments, buttons and receipts" },
  { name: "--countersign-deny", kind: "color", about: "Text and border of Deny, the mark of its receipt, problems" },
  { name: "--countersign-approve", kind: "color", about: "Text and border of Approve, and the mark of its receipt" },
  { name: "--countersign-focus", kind: "color", about: "The focus ring" },
  { name: "--countersign-radius", kind: "text", about: "Of the card; fields and buttons stay at 8px or below" },
  { name: "--countersign-font", kind: "text", about: "Shorthand: size, line height, family" },
  { name: "--countersign-code-font", kind: "text", about: "Family of the tool's name and of arguments" },
];

export const PARTS = [
  { name: "card", about: "One card, waiting or settled" },
  { name: "title", about: "What would run, for people" },
  { name: "tool", about: "The line with the tool's exact name and its server" },
  { name: "server", about: "The server's name" },
  { name: "why", about: "Why it stopped, or what the tool asks" },
  { name: "arguments", about: "Names and values, or that there are none" },
  { name: "preview", about: "What the tool says it would do" },
  { name: "note", about: "The note field with its label" },
  { name: "form", about: "The fields of what a tool asks for" },
  { name: "field", about: "One field with its label" },
  { name: "problem", about: "What does not fit in a field" },
  { name: "authorization", about: "The URL of an authorization, and its link" },
  { name: "link", about: "The link that opens it" },
  { name: "actions", about: "The row of buttons" },
  { name: "deny", about: "The button that refuses" },
  { name: "approve", about: "The button that lets it run, or sends what is filled in" },
  { name: "stop", about: "The button that stops the run, where a result was lost" },
  { name: "receipt", about: "What was decided, and what came of it" },
  { name: "dismiss", about: "The button that takes a receipt out of sight" },
];
