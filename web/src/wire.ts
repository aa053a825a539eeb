/**
 * What travels between a View and its Host: JSON-RPC messages and the types inside them, under the
 * spec's names without the `McpUi` prefix. Strict when written, lenient when read: a value that the
 * spec does not list is carried along, and nothing here throws on what a peer sent.
 */

/** The revision of MCP Apps that the View asks for. */
export const LATEST_PROTOCOL_VERSION = "2026-01-26";

/** The only content type of a UI resource. */
export const RESOURCE_MIME_TYPE = "text/html;profile=mcp-app";

/** The capability key by which our own pieces recognise each other and move to a `MessagePort`. */
export const PORT_CAPABILITY = "transom/port";

/** Any JSON object. */
export type Json = Record<string, unknown>;

/** Names one request; echoed with the type it came with. */
export type RequestId = string | number;

/** A question that must be answered. */
export type Request = {
  jsonrpc: "2.0";
  id: RequestId;
  method: string;
  params?: Json;
  result?: undefined;
};

/** A statement that is not answered. */
export type Notification = {
  jsonrpc: "2.0";
  method: string;
  params?: Json;
  result?: undefined;
};

/** Why a request failed. */
export type ErrorObject = { code: number; message: string; data?: unknown };

/** The answer to one request. */
export type Response =
  | { jsonrpc: "2.0"; id: RequestId; result: Json; error?: undefined }
  | { jsonrpc: "2.0"; id: RequestId; error: ErrorObject; result?: undefined };

/** One JSON-RPC message. */
export type Message = Request | Notification | Response;

/** A message before it says which protocol it belongs to. */
export type Unsigned<M> = M extends unknown ? Omit<M, "jsonrpc"> : never;

/** True for what JSON calls an object; functions cannot arrive here. */
export function isObject(value: unknown): value is Json {
  return Object(value) === value && !Array.isArray(value);
}

/**
 * Reads one message, or nothing when it is not one.
 *
 * Extra members are tolerated (docs/reference/mcp-apps.md §4.2); batches, fractional ids, array params and a result
 * beside an error are not messages (W-2 to W-6).
 */
export function parseMessage(data: unknown): Message | undefined {
  if (!isObject(data) || data.jsonrpc !== "2.0") return undefined;
  const { id, method, params = {}, result, error } = data;
  const named = typeof id === "string" || Number.isInteger(id);
  const valid =
    method === undefined
      ? named && isObject(result) !== isObject(error)
      : typeof method === "string" &&
        (named || id === undefined) &&
        isObject(params);
  if (valid) return data as Message;
  return undefined;
}

/** True when a side's capabilities name the port. */
export function namesPort(capabilities: unknown): boolean {
  return isObject(
    (capabilities as AppCapabilities | undefined)?.experimental?.[
      PORT_CAPABILITY
    ],
  );
}

/** Who speaks: a View or a Host. */
export type Implementation = {
  name: string;
  version: string;
  title?: string;
  websiteUrl?: string;
  description?: string;
  icons?: { src: string; mimeType?: string; sizes?: string[] }[];
};

/** Hints about a block's reader and weight. */
export type Annotations = {
  audience?: ("user" | "assistant")[];
  priority?: number;
  lastModified?: string;
};

/** Text for a person or a model. */
export type TextContent = {
  type: "text";
  text: string;
  annotations?: Annotations;
  _meta?: Json;
};

/** A picture, base64. */
export type ImageContent = {
  type: "image";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: Json;
};

/** Sound, base64. */
export type AudioContent = {
  type: "audio";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: Json;
};

/** What a resource holds: text, or bytes in base64. */
export type ResourceContents =
  | { uri: string; mimeType?: string; text: string; _meta?: Json }
  | { uri: string; mimeType?: string; blob: string; _meta?: Json };

/** A resource carried in the message. */
export type EmbeddedResource = {
  type: "resource";
  resource: ResourceContents;
  annotations?: Annotations;
  _meta?: Json;
};

/** A resource described, to be read elsewhere. */
export type Resource = {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Annotations;
  _meta?: Json;
};

/** A resource named, to be read elsewhere. */
export type ResourceLink = Resource & { type: "resource_link" };

/** One block of content. */
export type ContentBlock =
  TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink;

/** What a tool returned. */
export type CallToolResult = {
  content: ContentBlock[];
  structuredContent?: Json;
  isError?: boolean;
  _meta?: Json;
};

/** Which tool to call, with what. */
export type CallToolParams = { name: string; arguments?: Json; _meta?: Json };

/** A server's claims about what its tool does. */
export type ToolAnnotations = {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
};

/** A JSON Schema whose root is an object. */
export type ObjectSchema = { type: "object"; [key: string]: unknown };

/** A tool as it is listed. */
export type Tool = {
  name: string;
  title?: string;
  description?: string;
  inputSchema: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations?: ToolAnnotations;
  _meta?: Json;
};

/** The page of a list to fetch. */
export type ListParams = { cursor?: string; _meta?: Json };

/** One page of tools. */
export type ListToolsResult = { tools: Tool[]; nextCursor?: string };

/** One page of resources. */
export type ListResourcesResult = {
  resources: Resource[];
  nextCursor?: string;
};

/** Which resource to read. */
export type ReadResourceParams = { uri: string; _meta?: Json };

/** What was read. */
export type ReadResourceResult = { contents: ResourceContents[] };

/** One turn given to the model. */
export type SamplingMessage = {
  role: "user" | "assistant";
  content: SamplingContent | SamplingContent[];
};

/** What a model reads and writes. */
export type SamplingContent =
  | TextContent
  | ImageContent
  | AudioContent
  | { type: "tool_use"; id: string; name: string; input: Json; _meta?: Json }
  | {
      type: "tool_result";
      toolUseId: string;
      content: ContentBlock[];
      structuredContent?: Json;
      isError?: boolean;
      _meta?: Json;
    };

/** What to ask the model. */
export type CreateMessageParams = {
  messages: SamplingMessage[];
  maxTokens: number;
  systemPrompt?: string;
  temperature?: number;
  stopSequences?: string[];
  includeContext?: "none" | "thisServer" | "allServers";
  modelPreferences?: Json;
  metadata?: Json;
  tools?: Tool[];
  toolChoice?: Json;
  _meta?: Json;
};

/** What the model answered who was offered no tools. */
export type CreateMessageResult = {
  role: "user" | "assistant";
  content: TextContent | ImageContent | AudioContent;
  model: string;
  stopReason?: string;
  _meta?: Json;
};

/** What the model answered who was offered tools. */
export type CreateMessageResultWithTools = Omit<
  CreateMessageResult,
  "content"
> & { content: SamplingContent | SamplingContent[] };

/** How loud a log line is. */
export type LoggingLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";

/** One log line for the Host. */
export type LogParams = { level: LoggingLevel; logger?: string; data: unknown };

/** How far a request has come. */
export type Progress = { progress: number; total?: number; message?: string };

/** Light or dark. */
export type Theme = "light" | "dark";

/** Where a View is shown. */
export type DisplayMode = "inline" | "fullscreen" | "pip";

/** The names of the spec's 76 style variables. */
export type StyleVariableKey =
  | `--color-${"background" | "text" | "border"}-${Shade | "tertiary" | "ghost" | "disabled"}`
  | `--color-ring-${Shade}`
  | "--font-sans"
  | "--font-mono"
  | `--font-weight-${"normal" | "medium" | "semibold" | "bold"}`
  | `--font-text-${TextSize}-${"size" | "line-height"}`
  | `--font-heading-${TextSize | "xl" | "2xl" | "3xl"}-${"size" | "line-height"}`
  | `--border-radius-${TextSize | "xl" | "full"}`
  | "--border-width-regular"
  | `--shadow-${"hairline" | "sm" | "md" | "lg"}`;

type Shade =
  | "primary"
  | "secondary"
  | "inverse"
  | "info"
  | "danger"
  | "success"
  | "warning";

type TextSize = "xs" | "sm" | "md" | "lg";

/** Values for style variables; any subset. */
export type Styles = { [key in StyleVariableKey]?: string | undefined };

/** The Host's look: variables and font faces. */
export type HostStyles = { variables?: Styles; css?: { fonts?: string } };

/** What the Host says about the place where the View lives; unknown members are kept. */
export type HostContext = {
  [key: string]: unknown;
  toolInfo?: { id?: RequestId; tool: Tool };
  theme?: Theme;
  styles?: HostStyles;
  displayMode?: DisplayMode;
  availableDisplayModes?: DisplayMode[];
  containerDimensions?: (
    { height: number } | { maxHeight?: number | undefined }
  ) &
    ({ width: number } | { maxWidth?: number | undefined });
  locale?: string;
  timeZone?: string;
  userAgent?: string;
  platform?: "web" | "desktop" | "mobile";
  deviceCapabilities?: { touch?: boolean; hover?: boolean };
  safeAreaInsets?: { top: number; right: number; bottom: number; left: number };
};

/** A capability that is either absent or present. */
export type Flag = Record<string, never> | Json;

/** Kinds of content that a Host takes. */
export type Modalities = {
  text?: Flag;
  image?: Flag;
  audio?: Flag;
  resource?: Flag;
  resourceLink?: Flag;
  structuredContent?: Flag;
};

/** Origins that a document says it needs. */
export type ResourceCsp = {
  connectDomains?: string[];
  resourceDomains?: string[];
  frameDomains?: string[];
  baseUriDomains?: string[];
};

/** Browser features that a document says it needs. */
export type ResourcePermissions = {
  camera?: Flag;
  microphone?: Flag;
  geolocation?: Flag;
  clipboardWrite?: Flag;
};

/** What the View can do. */
export type AppCapabilities = {
  experimental?: Record<string, object>;
  tools?: { listChanged?: boolean };
  availableDisplayModes?: DisplayMode[];
};

/** What the Host can do. */
export type HostCapabilities = {
  experimental?: Record<string, object>;
  openLinks?: Flag;
  downloadFile?: Flag;
  serverTools?: { listChanged?: boolean };
  serverResources?: { listChanged?: boolean };
  logging?: Flag;
  sandbox?: { permissions?: ResourcePermissions; csp?: ResourceCsp };
  updateModelContext?: Modalities;
  message?: Modalities;
  sampling?: { tools?: Flag };
};

/** The Host's half of the handshake. */
export type InitializeResult = {
  [key: string]: unknown;
  protocolVersion: string;
  hostInfo: Implementation;
  hostCapabilities: HostCapabilities;
  hostContext: HostContext;
};

/** The tool's arguments, whole or still being written. */
export type ToolInputParams = { arguments?: Json };

/** Why the tool will give no result. */
export type ToolCancelledParams = { reason?: string };

/** The View's size in CSS pixels. */
export type SizeParams = { width?: number; height?: number };

/** A message for the conversation. */
export type MessageParams = { role: "user"; content: ContentBlock[] };

/** What the model shall know in later turns; each update replaces the last. */
export type ModelContextParams = {
  content?: ContentBlock[];
  structuredContent?: Json;
};

/** An answer that says no more than yes or no. */
export type Outcome = { isError?: boolean; [key: string]: unknown };
