import { messageOf } from "./error.js";
import { invalid, isFunction, Options } from "./reader.js";
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

function readTool(value: unknown, path: string): Tool {
  const options = new Options(value, path, ["name", "title", "description", "inputSchema", "effect", "run"]);
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
  return {
    name,
    ...(title !== undefined && { title }),
    description: options.optionalText("description") ?? "",
    inputSchema: inputSchema as Tool["inputSchema"],
    ...(effect && { effect }),
    run: options.required("run", "a function", isFunction) as Tool["run"],
  };
}

/** Runs a tool. Resolves with the text the model reads; rejects with the error's message, a string. */
export async function runTool(tool: Tool, args: string, context: ToolContext): Promise<string> {
  let result: unknown;
  try {
    result = await tool.run(JSON.parse(args), context);
  } catch (thrown) {
    throw messageOf(thrown);
  }
  if (typeof result === "string") return result;
  try {
    return JSON.stringify(result === undefined ? null : result) ?? cannot(typeof result);
  } catch (thrown) {
    throw cannot(messageOf(thrown));
  }
}

function cannot(why: string): never {
  throw `the tool ran, but its result cannot be written as JSON (${why})`;
}
