import { messageOf } from "./error.js";
import { invalid, isFunction, isObject, isText, Options } from "./reader.js";
import { asked } from "./requests.js";
import type { Tool, ToolContext } from "./types.js";

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
    ...(preview && { preview }),
    ...(relay && { relay }),
    run: options.required("run", "a function", isFunction) as Tool["run"],
  };
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

/** What a tool's preview says of a call; none where it has none. Rejects with a sentence for the card. */
export async function previewOf(tool: Tool, args: string): Promise<string[]> {
  let lines: unknown;
  try {
    lines = (await tool.preview?.(JSON.parse(args))) ?? [];
  } catch (thrown) {
    throw `The preview failed: ${messageOf(thrown)}`;
  }
  if (Array.isArray(lines) && lines.every(isText)) return lines;
  throw "The preview gave no array of strings.";
}

function cannot(why: string): never {
  throw `the tool ran, but its result cannot be written as JSON (${why})`;
}
