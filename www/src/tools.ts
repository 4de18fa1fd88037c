import { messageOf } from "./error.js";
import { invalid, isFlag, isFunction, isObject, isText, Options } from "./reader.js";
import { asked } from "./requests.js";
import type { Tool, ToolAnnotations, ToolContext } from "./types.js";

/** Reads `options.tools`. Each tool is a copy: what a page does to its own object later changes nothing here. */
export function readTools(options: Options): Tool[] {
  const given = options.optional("tools", "an array", Array.isArray) ?? [];
  const names = new Set<string>();
  return given.map((value, place) => {
    const path = `options.tools[${place}]`;
    const tool = readTool(value, path);
    if (names.has(tool.name))
      throw invalid(`${path}.name`, `repeats "${tool.name}"; each tool needs a name of its own`);
    names.add(tool.name);
    return tool;
  });
}

const toolOptions = [
  "name",
  "title",
  "description",
  "inputSchema",
  "effect",
  "idempotent",
  "untrusted",
  "annotations",
  "preview",
  "run",
  "relay",
];

function readTool(value: unknown, path: string): Tool {
  if (isObject(value) && "input" in value) {
    throw invalid(
      `${path}.input`,
      "is not possible: approval in front of a tool and input declared beside it could ask in turns for ever; let run " +
        'return pendingRequest({ kind: "input", … }) instead',
    );
  }
  const options = new Options(value, path, toolOptions);
  const name = options.text("name");
  if (!/^[\w-]{1,64}$/.test(name)) {
    throw options.wrong("name", "must be 1 to 64 of the characters a-z, A-Z, 0-9, _ and -");
  }
  const inputSchema = options.data("inputSchema");
  if (inputSchema?.type !== "object") {
    throw options.wrong("inputSchema", 'must be a JSON Schema with type "object"');
  }
  const title = options.optionalText("title");
  const effect = options.oneOf("effect", ["read", "write"]);
  const annotations = readAnnotations(options);
  const relay = options.optional("relay", "a function", isFunction) as Tool["relay"];
  const preview = options.optional("preview", "a function", isFunction) as Tool["preview"];
  return {
    name,
    ...(title !== undefined && { title }),
    description: options.optionalText("description") ?? "",
    inputSchema: inputSchema as Tool["inputSchema"],
    ...(effect && { effect }),
    idempotent: options.flag("idempotent"),
    untrusted: options.flag("untrusted"),
    ...(annotations && { annotations }),
    ...(preview && { preview }),
    ...(relay && { relay }),
    run: options.required("run", "a function", isFunction) as Tool["run"],
  };
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** The hints that are known. Others are let pass: a server's annotations are handed on as they came. */
function readAnnotations(options: Options): ToolAnnotations | undefined {
  const given = options.optional("annotations", "an object of hints", isObject);
  if (!given) return undefined;
  const known: ToolAnnotations = {};
  for (const hint of HINTS) {
    const value = given[hint];
    if (value === undefined) continue;
    if (!isFlag(value)) throw options.wrong(`annotations.${hint}`, "must be true or false, or left out");
    known[hint] = value;
  }
  return known;
}

/**
 * Runs a tool. Resolves with the text the model reads, or with what the tool asks for as an array of one JSON text; rejects
 * with the error's message, a string.
 */
export async function runTool(tool: Tool, args: string, context: ToolContext): Promise<string | [string]> {
  let result: unknown;
  try {
    // Only a tool with a relay is called after a no.
    result = await (context.answer?.ok === false ? tool.relay : tool.run)?.(JSON.parse(args), context);
  } catch (thrown) {
    throw messageOf(thrown);
  }
  if (typeof result === "string") return result;
  const request = asked(result);
  if (request !== undefined) return [request];
  try {
    return JSON.stringify(result === undefined ? null : result) ?? cannot(typeof result);
  } catch (thrown) {
    throw cannot(messageOf(thrown));
  }
}

/**
 * What a tool's preview says of a call: the current values as JSON, empty where it names none, and its lines. Rejects with
 * a sentence for the card.
 */
export async function previewOf(tool: Tool, args: string): Promise<string[]> {
  try {
    const said: unknown = (await tool.preview?.(JSON.parse(args))) ?? [];
    const { lines = [], current } = isObject(said) && !Array.isArray(said) ? said : { lines: said };
    if (Array.isArray(lines) && lines.every(isText) && (current === undefined || isObject(current))) {
      return [current === undefined ? "" : JSON.stringify(current), ...lines];
    }
  } catch (thrown) {
    throw `The preview failed: ${messageOf(thrown)}`;
  }
  throw "The preview gave neither an array of strings nor { lines, current }.";
}

function cannot(why: string): never {
  throw `the tool ran, but its result cannot be written as JSON (${why})`;
}
