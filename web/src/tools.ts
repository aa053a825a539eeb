/** Tools that the View itself offers to the Host. */
import type { RequestOptions } from "./calls.js";
import { TransomError } from "./error.js";
import type { StandardSchemaV1, StandardSchemaWithJSON } from "./standard.js";
import type { App } from "./view.js";
import type {
  AppCapabilities,
  CallToolResult,
  CreateMessageResultWithTools,
  Json,
  ListResourcesResult,
  ListToolsResult,
  ReadResourceResult,
  RequestId,
  Tool,
  ToolAnnotations,
} from "./wire.js";

/** A Standard Schema, or a JSON Schema, which is listed but not enforced. */
export type ToolSchema = StandardSchemaV1 | Json;

/** What a callback receives for a schema. */
export type Inferred<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : Json;

/** Sends any request: at once when the handshake is over, after it when it is under way. */
export interface Ask {
  <M extends keyof Answers>(
    request: { method: M; params?: Json | undefined },
    options?: RequestOptions,
  ): Promise<Answers[M]>;
  <T = Json>(
    request: { method: string; params?: Json | undefined },
    options?: RequestOptions,
  ): Promise<T>;
  /** With a Standard Schema, which checks the answer. */
  <S extends StandardSchemaV1>(
    request: { method: string; params?: Json | undefined },
    schema: S,
    options?: RequestOptions,
  ): Promise<StandardSchemaV1.InferOutput<S>>;
}

/** What the Host's answers are, by method. */
type Answers = {
  ping: Json;
  "tools/call": CallToolResult;
  "tools/list": ListToolsResult;
  "resources/list": ListResourcesResult;
  "resources/read": ReadResourceResult;
  "sampling/createMessage": CreateMessageResultWithTools;
};

/** Sends any notification. */
export type Tell = (notification: {
  method: string;
  params?: Json | undefined;
}) => Promise<void>;

/** What a handler learns beside the params. */
export type RequestExtra = {
  /** Aborts when the Host cancels the request. */
  signal: AbortSignal;
  requestId: RequestId;
  _meta?: Json | undefined;
  sendRequest: Ask;
  sendNotification: Tell;
  /** The same under the names of the MCP SDK's second version. */
  mcpReq: {
    id: RequestId;
    method: string;
    _meta?: Json | undefined;
    signal: AbortSignal;
    send: Ask;
    notify: Tell;
  };
  /** Never there in a View: the names are for code that also runs elsewhere. */
  sessionId?: string;
  http?: undefined;
  authInfo?: undefined;
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

/** What a tool answers: where it has an output schema, data of that type or a failure. */
export type AppToolResult<Out extends ToolSchema | undefined = undefined> =
  Out extends StandardSchemaV1
    ? | (CallToolResult & {
          structuredContent: Inferred<Out>;
          isError?: false;
        })
      | (CallToolResult & { isError: true })
    : CallToolResult;

/** Runs the tool: with the checked arguments where there is an input schema, else without. */
export type AppToolCallback<
  In extends ToolSchema | undefined = undefined,
  Out extends ToolSchema | undefined = undefined,
> = In extends ToolSchema
  ? (args: Inferred<In>, extra: RequestExtra) => Answer<Out>
  : (extra: RequestExtra) => Answer<Out>;

type Answer<Out extends ToolSchema | undefined = undefined> =
  AppToolResult<Out> | Promise<AppToolResult<Out>>;

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
    return await run(await check(inputSchema, value), extra);
  } catch (thrown) {
    return { content: [{ type: "text", text: `${thrown}` }], isError: true };
  }
}

/** What makes a schema a Standard Schema, if it is one. */
export const standardOf = (schema: unknown) =>
  (schema as Partial<StandardSchemaWithJSON> | undefined)?.["~standard"];

/** A value as its Standard Schema has checked and perhaps changed it; as it is, when there is none. */
export async function check(schema: unknown, value: unknown): Promise<unknown> {
  const checked = (await standardOf(schema)?.validate(value)) ?? { value };
  if (checked.issues)
    throw new TransomError(-32602, JSON.stringify(checked.issues));
  return checked.value;
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
  return (
    standardOf(schema)?.jsonSchema?.[side]({ target: "draft-2020-12" }) ??
    schema
  );
}
