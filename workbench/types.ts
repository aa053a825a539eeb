/** What the host process says of itself. */

export type Tool = {
  name: string;
  /** Its name as people may read it. */
  label: string;
  title?: string;
  description?: string;
  inputSchema?: { properties?: Record<string, Schema>; required?: string[] };
  view: boolean;
};
export type Schema = {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
};
export type Server = {
  name: string;
  state: "connecting" | "sign-in" | "ready" | "gone";
  words: string;
  tools: Tool[];
  findings: { severity: string; words: string }[];
  sign_in?: { url: string; place: string };
};
export type Decision = {
  id: string;
  server: string;
  words: string;
  yes: boolean;
  kept: boolean;
};
export type Entry = {
  n: number;
  at: string;
  kind: string;
  who: string;
  words: string;
};
