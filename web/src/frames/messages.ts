/**
 * The eight messages of the transport, in both dialects of "1.0" (DIA-1 to DIA-4), and our two additions, whose names no
 * other implementation listens to. What is read is copied member by member; nothing here throws at what a peer sent.
 */
import { FrameError, type SetupCode } from "./error.js";
import { isPlain, readPayload, type Payload } from "./payload.js";

/** The only version of the transport there is. */
export const VERSION = "1.0";

/** A browser feature that an inner page asks for, with the reason that it gives. */
export type PermissionRequest = {
  name: string;
  phase: ("setup" | "transport")[];
  required: boolean;
  purpose: string;
};

/** Whether an inner page is to be seen while it is connected. */
export type Visibility = {
  requirement: "required" | "optional" | "hidden";
  /** What a person gains by showing it, where they may choose. */
  description?: string;
};

/** What came of a setup. */
export type SetupResult = {
  /** The inner page's name for itself: cleaned, capped, and to be shown as text beside its origin. */
  title: string;
  visibility: Visibility;
  /** To be shown once, as text, and not kept. */
  ephemeralMessage?: string;
};

/** Why an inner page wants its setup to run again. */
export type SetupRequired = {
  reason: "AUTH_EXPIRED" | "CONFIG_CHANGED" | "PERMISSIONS_CHANGED" | "OTHER";
  message: string;
  /** False when nothing will work until then. */
  canContinue: boolean;
};

/** How an inner page ends its setup. */
export type SetupOutcome =
  | ({ status: "success" } & SetupResult)
  | { status: "error"; code: SetupCode; message: string };

/** One message as it was understood, whatever its dialect. */
export type Message =
  | {
      type: "MCP_SETUP_HANDSHAKE";
      versions: [string, string];
      visible: boolean;
      permissions: PermissionRequest[];
    }
  | { type: "MCP_SETUP_HANDSHAKE_REPLY"; version: string; sessionId: string }
  | { type: "MCP_SETUP_COMPLETE"; outcome: SetupOutcome }
  | { type: "MCP_TRANSPORT_HANDSHAKE"; versions: [string, string] }
  | {
      type: "MCP_TRANSPORT_HANDSHAKE_REPLY";
      version: string;
      sessionId: string;
    }
  | { type: "MCP_TRANSPORT_ACCEPTED"; sessionId: string }
  | { type: "MCP_SETUP_REQUIRED"; required: SetupRequired }
  | { type: "MCP_MESSAGE"; payload: Payload; size: number }
  | { type: "MCPX_CLOSE"; sessionId: string; leaving: boolean }
  | { type: "MCPX_PORT" };

/** A message that was understood, one that was not and why, or another program's. */
export type Parsed =
  { message: Message; warning?: string } | { bad: FrameError } | undefined;

/** Reads whatever arrived from one side. Never throws; what is not that side's to say is nothing. */
export function parse(data: unknown, side: Side, limit = SIZE_LIMIT): Parsed {
  if (!isPlain(data)) return undefined;
  const type = own(data, "type");
  const get = (key: string) => own(data, key);
  const warnings: string[] = [];
  try {
    const members = either(type, get, limit) ?? side(type, get, warnings);
    if (!members) return undefined;
    const message = { type, ...members } as Message;
    return warnings.length
      ? { message, warning: `${type}: ${warnings.join(", ")}` }
      : { message };
  } catch (error) {
    return {
      bad:
        error instanceof FrameError
          ? error
          : new FrameError("BAD_MESSAGE", `${type}: ${error}`),
    };
  }
}

/** What an inner page says first. Each goes to `*`, because it is not known yet who is listening; it holds nothing private. */
export function announcement(
  phase: "setup" | "transport",
  visible: boolean,
  permissions: PermissionRequest[],
) {
  return phase === "transport"
    ? { type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: VERSION }
    : {
        type: "MCP_SETUP_HANDSHAKE",
        protocolVersion: VERSION,
        minProtocolVersion: VERSION,
        maxProtocolVersion: VERSION,
        requiresVisibleSetup: visible,
        requestedPermissions: permissions,
      };
}

/** The outer page's answer to an announcement. */
export const reply = (phase: "setup" | "transport", sessionId: string) => ({
  type:
    phase === "setup"
      ? "MCP_SETUP_HANDSHAKE_REPLY"
      : "MCP_TRANSPORT_HANDSHAKE_REPLY",
  protocolVersion: VERSION,
  sessionId,
});

/** The end of a setup, under the names of both dialects. */
export function completion(outcome: SetupOutcome) {
  const ok = outcome.status === "success";
  const title = ok ? outcome.title : "";
  const { requirement, description } = ok
    ? outcome.visibility
    : { requirement: "hidden", description: undefined };
  return {
    type: "MCP_SETUP_COMPLETE",
    status: outcome.status,
    serverTitle: title,
    displayName: title,
    ...(ok &&
      outcome.ephemeralMessage !== undefined && {
        ephemeralMessage: outcome.ephemeralMessage,
      }),
    transportVisibility: {
      requirement,
      ...(description !== undefined && {
        optionalMessage: description,
        description,
      }),
    },
    ...(!ok && { error: { code: outcome.code, message: outcome.message } }),
  };
}

/** True when "1.0" is among what the peer speaks. */
export function speaks([min, max]: [string, string]): boolean {
  const [low, high, ours] = [min, max, VERSION].map((text) => {
    const [major, minor] = text.split(".").map(Number) as [number, number];
    return major * 1e5 + minor;
  }) as [number, number, number];
  return low <= ours && ours <= high;
}

/** One JSON-RPC message may be this large, as JSON text. */
export const SIZE_LIMIT = 4 * 1024 * 1024;

type Get = (key: string) => unknown;

/** Reads the messages that only one side sends. Readers throw words; `parse` makes an error of them. */
export type Side = (
  type: unknown,
  get: Get,
  warnings: string[],
) => object | undefined;

/** What the inner page may say. */
export const fromInner: Side = (type, get, warnings) => {
  switch (type) {
    case "MCP_SETUP_HANDSHAKE":
      return {
        versions: versionsOf(get, warnings),
        visible: flag(get("requiresVisibleSetup"), "requiresVisibleSetup"),
        permissions: permissionsOf(get("requestedPermissions"), warnings),
      };
    case "MCP_SETUP_COMPLETE":
      return { outcome: outcomeOf(get, warnings) };
    case "MCP_TRANSPORT_HANDSHAKE":
      return { versions: versionsOf(get, warnings) };
    case "MCP_TRANSPORT_ACCEPTED":
      return { sessionId: sessionOf(get) };
    case "MCP_SETUP_REQUIRED":
      return {
        required: {
          reason: oneOf(REASONS, get("reason"), "reason"),
          message: clean(text(get("message"), "message"), TEXT),
          canContinue: flag(get("canContinue"), "canContinue"),
        },
      };
  }
  return undefined;
};

/** What the outer page may say. */
export const fromOuter: Side = (type, get) => {
  switch (type) {
    case "MCP_SETUP_HANDSHAKE_REPLY":
    case "MCP_TRANSPORT_HANDSHAKE_REPLY":
      return {
        version: version(get("protocolVersion"), "protocolVersion"),
        sessionId: sessionOf(get),
      };
    case "MCPX_PORT":
      return {};
  }
  return undefined;
};

function either(type: unknown, get: Get, limit: number): object | undefined {
  switch (type) {
    case "MCP_MESSAGE":
      return readPayload(get("payload"), limit);
    case "MCPX_CLOSE":
      return { sessionId: sessionOf(get), leaving: get("reason") === LEAVING };
  }
  return undefined;
}

const own = (data: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(data, key) ? data[key] : undefined;

/** Dialect A names one version, dialect B a range; where both are given and differ, A wins (DIA-2). */
function versionsOf(get: Get, warnings: string[]) {
  const one = get("protocolVersion");
  const [min, max] = [get("minProtocolVersion"), get("maxProtocolVersion")];
  if (one === undefined)
    return [
      version(min, "minProtocolVersion"),
      version(max, "maxProtocolVersion"),
    ];
  if ((min !== undefined && min !== one) || (max !== undefined && max !== one))
    warnings.push("protocolVersion and its range differ");
  return [version(one, "protocolVersion"), version(one, "protocolVersion")];
}

function outcomeOf(get: Get, warnings: string[]) {
  const both = (a: unknown, b: unknown, name: string) => {
    if (a !== undefined && b !== undefined && a !== b)
      warnings.push(`${name} is said in two ways`);
    return a ?? b;
  };
  if (oneOf(["success", "error"], get("status"), "status") === "error") {
    const error = get("error");
    const fields = isPlain(error) ? error : { message: error };
    const code = CODES.find((known) => known === fields.code);
    if (!code) warnings.push(`error code ${JSON.stringify(fields.code)}`);
    const message = clean(text(fields.message, "error.message"), TEXT);
    return { status: "error", code: code ?? "CONFIG_ERROR", message };
  }
  const title = clean(
    text(both(get("serverTitle"), get("displayName"), "title"), "serverTitle"),
    TITLE,
  );
  if (!title) throw "serverTitle is empty";
  const shown = get("transportVisibility");
  if (!isPlain(shown)) throw "transportVisibility is missing";
  const said = both(shown.optionalMessage, shown.description, "description");
  const ephemeral = get("ephemeralMessage");
  return {
    status: "success",
    title,
    visibility: {
      requirement: oneOf(
        ["required", "optional", "hidden"],
        own(shown, "requirement"),
        "transportVisibility.requirement",
      ),
      ...(typeof said === "string" && { description: clean(said, TEXT) }),
    },
    ...(typeof ephemeral === "string" && {
      ephemeralMessage: clean(ephemeral, TEXT),
    }),
  };
}

/** An entry of another shape is refused with a warning and never granted (DIA-4). */
function permissionsOf(list: unknown, warnings: string[]) {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length > 32)
    throw "requestedPermissions is not a list of at most 32";
  return list.flatMap((entry): PermissionRequest[] => {
    if (
      isPlain(entry) &&
      typeof entry.name === "string" &&
      Array.isArray(entry.phase) &&
      entry.phase.every((name) => name === "setup" || name === "transport") &&
      typeof entry.required === "boolean" &&
      typeof entry.purpose === "string"
    )
      return [
        {
          name: clean(entry.name, TITLE),
          phase: [...entry.phase] as PermissionRequest["phase"],
          required: entry.required,
          purpose: clean(entry.purpose, TEXT),
        },
      ];
    warnings.push("a requested permission of unknown shape");
    return [];
  });
}

function version(value: unknown, name: string): string {
  if (
    typeof value !== "string" ||
    !/^(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})$/.test(value)
  )
    throw `${name} is not a version like "1.0"`;
  return value;
}

function sessionOf(get: Get): string {
  const id = get("sessionId");
  if (!isSessionId(id)) throw "sessionId is not 1 to 128 of A-Za-z0-9._~-";
  return id;
}

/** True for what may name a session. */
export function isSessionId(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9._~-]{1,128}$/.test(value);
}

function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw `${name} is not text`;
  return value;
}

function flag(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") throw `${name} is not true or false`;
  return value;
}

function oneOf<T>(allowed: readonly T[], value: unknown, name: string): T {
  if (!allowed.includes(value as T))
    throw `${name} is none of ${allowed.join(", ")}`;
  return value as T;
}

/** Text of a stranger's, fit to stand in one line: no control characters, none that turn the line around. */
function clean(value: string, most: number): string {
  return (
    value
      // A megabyte is not searched for the sake of eighty characters.
      .slice(0, most * 4)
      .replace(
        /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/gu,
        " ",
      )
      .trim()
      .slice(0, most)
  );
}

/** The reason in `MCPX_CLOSE` when the page unloads: it may come back. */
export const LEAVING = "pagehide";

const TITLE = 80;
const TEXT = 300;
const REASONS = [
  "AUTH_EXPIRED",
  "CONFIG_CHANGED",
  "PERMISSIONS_CHANGED",
  "OTHER",
] as const;
const CODES = [
  "USER_CANCELLED",
  "AUTH_FAILED",
  "TIMEOUT",
  "CONFIG_ERROR",
  "VERSION_MISMATCH",
  "INSUFFICIENT_PERMISSIONS",
] as const;
