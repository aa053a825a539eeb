/** Everything that can go wrong for the caller, as one class with a closed set of codes. */

/** Failures that never crossed the wire. */
export type LocalCode =
  | "NoHost"
  | "NotConnected"
  | "Timeout"
  | "Aborted"
  | "Closed";

/** A call failed: a number is the Host's JSON-RPC code, a word is ours. */
export class TransomError extends Error {
  declare readonly code: LocalCode | number;
  declare readonly data: unknown;

  constructor(code: LocalCode | number, message: string, data?: unknown) {
    super(message);
    Object.assign(this, { name: "TransomError", code, data });
  }
}
