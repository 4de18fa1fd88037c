import { CountersignError } from "./error.js";

/** An object of options; every error names the option at fault and what belongs there. */
export class Options {
  readonly #values: Record<string, unknown>;
  readonly #path: string;

  /** Refuses options that are not known, so that a typing error is not silently ignored. */
  constructor(value: unknown, path: string, known: readonly string[]) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw invalid(path, "must be an object");
    }
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) throw invalid(`${path}.${key}`, `is not an option; known are: ${known.join(", ")}`);
    }
    this.#values = value as Record<string, unknown>;
    this.#path = path;
  }

  /** The error of one option. */
  wrong(key: string, what: string): CountersignError {
    return invalid(`${this.#path}.${key}`, what);
  }

  raw(key: string): unknown {
    return this.#values[key];
  }

  /** The option if `fits`; undefined if it is absent. */
  optional<T>(key: string, what: string, fits: (value: unknown) => value is T): T | undefined {
    const value = this.#values[key];
    if (value === undefined || fits(value)) return value;
    throw this.wrong(key, `must be ${what}`);
  }

  required<T>(key: string, what: string, fits: (value: unknown) => value is T): T {
    const value = this.optional(key, what, fits);
    if (value === undefined) throw this.wrong(key, `must be ${what}`);
    return value;
  }

  text(key: string): string {
    return this.required(key, "a non-empty string", isName);
  }

  optionalText(key: string): string | undefined {
    return this.optional(key, "a string", isText);
  }

  oneOf<T extends string>(key: string, known: readonly T[]): T | undefined {
    return this.optional(key, `one of: ${known.join(", ")}`, (value): value is T => known.includes(value as T));
  }

  /** True or false; false if it is absent. */
  flag(key: string): boolean {
    return this.optional(key, "true or false", isFlag) ?? false;
  }

  /** A whole number of at least 1; null counts as absent. */
  count(key: string): number | undefined {
    if (this.#values[key] === null) return undefined;
    return this.optional(key, "a whole number of at least 1", isCount);
  }

  /** Milliseconds; null is no limit, written as 0. */
  limit(key: string, otherwise: number): number {
    return this.#values[key] === null ? 0 : (this.count(key) ?? otherwise);
  }

  /** An array of objects, copied by way of JSON; empty if it is absent. */
  list(key: string): unknown[] {
    const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.every(isObject);
    return JSON.parse(JSON.stringify(this.optional(key, "an array of objects", isList) ?? []));
  }

  /** Data that goes out as it is: a copy by way of JSON, so that nobody changes it afterwards. */
  data(key: string): Record<string, unknown> | undefined {
    const value = this.optional(key, "an object", isObject);
    try {
      return value && JSON.parse(JSON.stringify(value));
    } catch (cause) {
      throw invalid(`${this.#path}.${key}`, "cannot be written as JSON", cause);
    }
  }
}

export const isText = (value: unknown): value is string => typeof value === "string";
export const isFunction = (value: unknown): value is (...given: never[]) => unknown => typeof value === "function";
export const isName = (value: unknown): value is string => isText(value) && value !== "";
export const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function invalid(path: string, what: string, cause?: unknown): CountersignError {
  return new CountersignError("invalid_options", `${path} ${what}.`, cause);
}
