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

/** The error that a request rejects with (ERR-2). `reached` where the server says that its backend has the request all the same. */
export function failure(
  code: FetchCode,
  message: string,
  tool?: string,
  reached?: boolean,
): TypeError {
  return new TypeError("Failed to fetch", {
    cause: { code, message, tool, ...(reached && { reached }) },
  });
}
