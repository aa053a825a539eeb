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
    // The name is what a console prints before the message.
    Object.assign(this, { name: code, code, data });
  }
}
