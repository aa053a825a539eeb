/** Everything that can go wrong for the caller, as one class with a closed set of codes. */

/** Failures that never crossed the wire. */
export type LocalCode =
  "NoHost" | "NotConnected" | "Timeout" | "Aborted" | "Closed";

/** A call failed: a number is the Host's JSON-RPC code, a word is ours. */
export class TransomError extends Error {
  declare readonly code: LocalCode | number;
  declare readonly data: unknown;

  constructor(
    code: LocalCode | number,
    message: LocalCode | number | string = code,
    data?: unknown,
  ) {
    super(message as string);
    // The class's own name is a shorter one in the build.
    Object.assign(this, { name: "TransomError", code, data });
  }
}

/** Refuses the string of somebody who writes plain JavaScript, and says what to write. */
export function objectOf(params: unknown, name: string, members = "…"): void {
  if (typeof params === "string")
    throw new TransomError(-32602, `Write ${name}({ ${members} })`);
}
