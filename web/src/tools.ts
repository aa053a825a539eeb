/** Tools that the View itself offers to the Host. */
import type { CallToolResult, Json, Tool, ToolAnnotations } from "./wire.js";

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

type Issue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

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

/** The View's tools by name. */
export type Registry = Map<string, RegisteredAppTool>;

/** Puts a tool into the registry and tells when the list changes. */
export function register(
  registry: Registry,
  name: string,
  config: AppToolConfig<ToolSchema, ToolSchema>,
  callback: (...args: never[]) => Answer,
  changed: () => void,
): RegisteredAppTool {
  if (registry.has(name)) throw new Error(`Tool ${name} is already registered`);
  const run = callback as (...args: unknown[]) => Answer;
  const tool: RegisteredAppTool = {
    ...config,
    enabled: true,
    enable: () => tool.update({ enabled: true }),
    disable: () => tool.update({ enabled: false }),
    update(updates) {
      Object.assign(tool, updates);
      changed();
    },
    remove() {
      if (registry.get(name) === tool && registry.delete(name)) changed();
    },
    async handler(args, extra) {
      if (!tool.enabled) throw new Error(`Tool ${name} is disabled`);
      const result = await (config.inputSchema
        ? run(await check(tool.inputSchema, args ?? {}, `input for tool ${name}`), extra)
        : run(extra));
      if (!tool.outputSchema || result.isError) return result;
      const structuredContent = (await check(
        tool.outputSchema,
        result.structuredContent,
        `output for tool ${name}`,
      )) as Json;
      return { ...result, structuredContent };
    },
  };
  registry.set(name, tool);
  changed();
  return tool;
}

/** Lists the tools that are enabled. */
export function list(registry: Registry): Tool[] {
  return [...registry]
    .filter(([, tool]) => tool.enabled)
    .map(([name, { title, description, inputSchema, outputSchema, annotations, _meta }]) =>
      present({
        name,
        title,
        description,
        inputSchema: inputSchema
          ? toJsonSchema(inputSchema, "input")
          : { type: "object", properties: {} },
        outputSchema: outputSchema && toJsonSchema(outputSchema, "output"),
        annotations,
        _meta,
      }),
    );
}

/** Optional means absent on the wire (W-7). */
function present(tool: { [key in keyof Tool]: unknown }): Tool {
  return Object.fromEntries(
    Object.entries(tool).filter(([, value]) => value !== undefined),
  ) as Tool;
}

async function check(schema: unknown, value: unknown, what: string): Promise<unknown> {
  const standard = (schema as StandardSchema | undefined)?.["~standard"];
  if (!standard) return value;
  const checked = await standard.validate(value);
  if (!checked.issues) return checked.value;
  const issues = checked.issues.map(({ path = [], message }) =>
    [...path.map((step) => (typeof step === "object" ? step.key : step)).map(String), message].join(
      ": ",
    ),
  );
  throw new Error(`Invalid ${what}: ${issues.join("; ")}`);
}

function toJsonSchema(schema: ToolSchema, side: "input" | "output"): unknown {
  const standard = (schema as StandardSchema)["~standard"] as unknown as
    | { jsonSchema?: Record<string, (options: Json) => unknown> }
    | undefined;
  if (!standard) return schema;
  const write = standard.jsonSchema?.[side];
  if (!write) throw new Error("the schema cannot be written as JSON Schema");
  return write({ target: "draft-2020-12" });
}
