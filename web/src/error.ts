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
  override name = "TransomError";

  constructor(
    readonly code: LocalCode | number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}
