/**
 * Every rejection of this package, but the `TypeError` of a wrongly typed reason. `code` is stable, `message` says
 * what to do.
 */
export class CountersignError extends Error {
  /** The stable code, such as `invalid_options`, `conflict` or `model_auth`. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CountersignError";
    this.code = code;
  }
}

/** @internal A thrown value as one line. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return String(thrown.message || thrown.name || "an error without a message");
  return typeof thrown === "string" ? thrown : "something that is no Error was thrown";
}
