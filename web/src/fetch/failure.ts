/** Why a request has no response, as `fetch` says it: a `TypeError`, with the reason in its cause. */

/** What went wrong, for programs. */
export type FetchCode =
  | "network"
  | "blocked"
  | "too_large"
  | "bad_request"
  | "timeout"
  | "host_unavailable"
  | "protocol";

/** The error that a request rejects with (ERR-2). */
export function failure(
  code: FetchCode,
  message: string,
  tool?: string,
): TypeError {
  return new TypeError("Failed to fetch", { cause: { code, message, tool } });
}
