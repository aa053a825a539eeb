/** Why a connection between two windows failed or ended, as one class with a closed set of codes. */

/** What an inner page says when its setup failed. */
export type SetupCode =
  | "USER_CANCELLED"
  | "AUTH_FAILED"
  | "TIMEOUT"
  | "CONFIG_ERROR"
  | "VERSION_MISMATCH"
  | "INSUFFICIENT_PERMISSIONS";

/** Every cause that this transport tells apart. */
export type FrameCode =
  | SetupCode
  // The caller's: a setting, or a call at the wrong time.
  | "BAD_URL"
  | "BAD_ORIGIN"
  | "SAME_ORIGIN"
  | "INSECURE"
  | "NO_PEER"
  | "NOT_OPEN"
  | "ALREADY_STARTED"
  | "CLOSED"
  // A message: the caller's where `send` rejects with it, the peer's where `onerror` hears it.
  | "BAD_MESSAGE"
  | "NOT_JSON"
  | "TOO_LARGE"
  // The handshake.
  | "LOAD_TIMEOUT"
  | "ACCEPT_TIMEOUT"
  | "REPLY_TIMEOUT"
  | "ORIGIN_MISMATCH"
  | "WRONG_PHASE"
  | "SESSION_MISMATCH"
  | "POPUP_BLOCKED"
  | "OPENER_SEVERED"
  // The end of a connection.
  | "SETUP_REQUIRED"
  | "USER_CLOSED"
  | "FRAME_REMOVED"
  | "NAVIGATED_AWAY"
  | "PEER_RELOADED"
  | "PEER_CLOSED"
  | "FLOODED";

/** Something went wrong between two windows. The message is for a person; the code is for a program. */
export class FrameError extends Error {
  declare readonly code: FrameCode;
  /** The two facts behind an `ORIGIN_MISMATCH`, a `NAVIGATED_AWAY` or a `VERSION_MISMATCH`. */
  declare readonly data: { expected: string; got: string } | undefined;

  constructor(
    code: FrameCode,
    message: string,
    data?: { expected: string; got: string },
  ) {
    super(message);
    // The name is what a console prints before the message.
    Object.assign(this, { name: code, code, data });
  }
}
