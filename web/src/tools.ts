/** Tools that the View itself offers to the Host. */
import type { CallToolParams, CallToolResult, Json, Tool, ToolAnnotations } from "./wire.js";

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
  requestId: string | number;
  mcpReq: { id: string | number; method: string; signal: AbortSignal };
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

/** The View's tools by name; `changed` hears of every change. */
export function openTools(changed: () => void) {
  const tools = new Map<string, RegisteredAppTool>();

  return {
    add(
      name: string,
      config: AppToolConfig<ToolSchema, ToolSchema>,
      run: (...args: unknown[]) => Answer,
    ): RegisteredAppTool {
      if (tools.has(name)) throw new Error(`Tool ${name} is already registered`);
      const tool: RegisteredAppTool & { name: string } = {
        ...config,
        name,
        enabled: true,
        enable: () => tool.update({ enabled: true }),
        disable: () => tool.update({ enabled: false }),
        update(updates) {
          Object.assign(tool, updates);
          changed();
        },
        remove() {
          if (tools.get(name) === tool && tools.delete(name)) changed();
        },
        async handler(args, extra) {
          const { inputSchema, outputSchema } = tool;
          const result = await (inputSchema
            ? run(await check(inputSchema, args ?? {}), extra)
            : run(extra));
          if (outputSchema && !result.isError)
            result.structuredContent = await check(outputSchema, result.structuredContent);
          return result;
        },
      };
      tools.set(name, tool);
      changed();
      return tool;
    },

    call({ name, arguments: args }: CallToolParams, extra: RequestExtra): Promise<CallToolResult> {
      const tool = tools.get(name);
      if (!tool?.enabled) throw new Error(`Tool ${name} not found`);
      return tool.handler(args, extra);
    },

    /** Lists what is enabled. Writing it as JSON leaves out functions and what is not set (W-7). */
    list: (): Tool[] =>
      [...tools.values()]
        .filter((tool) => tool.enabled)
        .map((tool) =>
          JSON.parse(
            JSON.stringify({
              ...tool,
              enabled: undefined,
              inputSchema: toJsonSchema(tool.inputSchema ?? NO_INPUT, "input"),
              outputSchema: toJsonSchema(tool.outputSchema, "output"),
            }),
          ),
        ),
  };
}

/** A Standard Schema checks the value and may change it; a JSON Schema lets everything pass. */
async function check(schema: ToolSchema, value: unknown): Promise<Json> {
  const checked = await (schema as StandardSchema)["~standard"]?.validate(value);
  if (checked?.issues) throw new Error(checked.issues.map(({ message }) => message).join("; "));
  return (checked ? checked.value : value) as Json;
}

/** A Standard Schema writes itself; anything else is taken for JSON Schema already. */
function toJsonSchema(schema: unknown, side: "input" | "output"): unknown {
  const standard = (schema as Partial<WithJsonSchema> | undefined)?.["~standard"];
  return standard ? standard.jsonSchema[side]({ target: "draft-2020-12" }) : schema;
}

type WithJsonSchema = {
  "~standard": { jsonSchema: Record<"input" | "output", (options: Json) => unknown> };
};

const NO_INPUT = { type: "object", properties: {} };
