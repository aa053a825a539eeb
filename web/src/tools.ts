/** Tools that the View itself offers to the Host. */
import { TransomError } from "./error.js";
import type { App } from "./view.js";
import type {
  AppCapabilities,
  CallToolResult,
  Json,
  Tool,
  ToolAnnotations,
} from "./wire.js";

/** The part of Standard Schema that validates. */
export type StandardSchema<In = unknown, Out = In> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Out> | Promise<Checked<Out>>;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
};

type Checked<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

type Issue = { readonly message: string };

/** A Standard Schema, or a JSON Schema, which is listed but not enforced. */
export type ToolSchema = StandardSchema | Json;

/** What a callback receives for a schema. */
export type Inferred<S> = S extends StandardSchema
  ? NonNullable<S["~standard"]["types"]>["output"]
  : Json;

/** What a handler learns beside the params. */
export type RequestExtra = {
  /** Aborts when the Host cancels the request. */
  signal: AbortSignal;
};

/** What a tool says about itself. */
export type AppToolConfig<In, Out> = {
  title?: string;
  description?: string;
  inputSchema?: In;
  outputSchema?: Out;
  annotations?: ToolAnnotations;
  _meta?: Json;
};

/** Runs the tool: with the checked arguments where there is an input schema, else without. */
export type AppToolCallback<In> = In extends ToolSchema
  ? (args: Inferred<In>, extra: RequestExtra) => Answer
  : (extra: RequestExtra) => Answer;

type Answer = CallToolResult | Promise<CallToolResult>;

/** A tool in force, and the ways to change it. */
export type RegisteredAppTool = AppToolConfig<ToolSchema, ToolSchema> & {
  enabled: boolean;
  enable(): void;
  disable(): void;
  remove(): void;
  update(updates: Partial<Omit<RegisteredAppTool, "update">>): void;
  handler: (args: unknown, extra: RequestExtra) => Promise<CallToolResult>;
};

/** Lets an `App` register tools. `connected` says whether the Host has been told of `capabilities`, or is being told. */
export function addTools(
  app: App,
  capabilities: AppCapabilities,
  connected: () => unknown,
): void {
  const tools = new Map<string, RegisteredAppTool>();

  const serve = () => {
    app.oncalltool ??= ({ name, arguments: args }, extra) => {
      const tool = tools.get(name);
      if (!tool?.enabled) throw new TransomError(-32602, `${name} not found`);
      return tool.handler(args, extra);
    };
    app.onlisttools ??= () => ({
      tools: [...tools].flatMap(([name, tool]) =>
        tool.enabled ? listTool(name, tool) : [],
      ),
    });
  };

  app.registerTool = (name, config, callback) => {
    if (!connected()) capabilities.tools ??= { listChanged: true };
    serve();
    const update = (updates?: object) => {
      Object.assign(tool, updates);
      // Before the handshake there is no list that could have changed, and nothing is sent.
      if (capabilities.tools?.listChanged)
        app.sendToolListChanged().catch(() => {});
    };
    const tool: RegisteredAppTool = {
      ...config,
      enabled: true,
      update,
      enable: () => update({ enabled: true }),
      disable: () => update({ enabled: false }),
      remove() {
        tools.delete(name);
        update();
      },
      handler: (args, extra) => runTool(tool, callback as never, args, extra),
    } as RegisteredAppTool;
    tools.set(name, tool);
    update();
    return tool;
  };
  // Who declares tools answers for them, also while there are none (V-17).
  if (capabilities.tools) serve();
}

/**
 * Runs a tool on arguments that its schema has checked and perhaps changed. What fails is a result that
 * says so (V-19), for the model to read.
 */
async function runTool(
  { inputSchema }: RegisteredAppTool,
  run: (...args: unknown[]) => Answer,
  value: unknown = {},
  extra: RequestExtra,
): Promise<CallToolResult> {
  try {
    if (!inputSchema) return await run(extra);
    const standard = inputSchema["~standard"] as Standard | undefined;
    const checked = (await standard?.validate(value)) ?? { value };
    if (checked.issues) throw JSON.stringify(checked.issues);
    return await run(checked.value, extra);
  } catch (thrown) {
    return { content: [{ type: "text", text: `${thrown}` }], isError: true };
  }
}

/** A tool as it is listed. Writing it as JSON leaves out functions and what is not set (W-7). */
function listTool(name: string, tool: RegisteredAppTool): Tool {
  return JSON.parse(
    JSON.stringify({
      ...tool,
      name,
      enabled: undefined,
      inputSchema: toJsonSchema(
        tool.inputSchema ?? { type: "object" },
        "input",
      ),
      outputSchema: toJsonSchema(tool.outputSchema, "output"),
    }),
  );
}

/** A Standard Schema writes itself; anything else is taken for JSON Schema already. */
function toJsonSchema(
  schema: ToolSchema | undefined,
  side: "input" | "output",
): unknown {
  const standard = schema?.["~standard"] as Standard | undefined;
  return standard?.jsonSchema?.[side]({ target: "draft-2020-12" }) ?? schema;
}

type Standard = StandardSchema["~standard"] & {
  jsonSchema?: Record<"input" | "output", (options: Json) => unknown>;
};
