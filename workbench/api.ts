/** What the page asks of the host process: every request of the page is made here, with the page's key. */

/** The host process refused a request, or did not answer; `message` is for people. */
export class ApiError extends Error {
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  constructor(status: number, words: string) {
    super(words);
    this.status = status;
  }
}

/** Takes the key that goes with every request. */
export function useKey(given: string): void {
  key = given;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

/** Posts a value as JSON, and reads what comes back as JSON, if anything does. */
export async function post<T = void>(
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** Makes a request whose answer the caller reads piece by piece. */
export async function request(
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  const response = await fetch(path, { ...init, headers }).catch(
    (error: unknown) => {
      if (init.signal?.aborted) throw error;
      throw new ApiError(0, "The host process is not answering.");
    },
  );
  if (!response.ok) throw await refusal(response);
  return response;
}

/** The host process says why as `{"error": "…"}`, where it has words for it. */
async function refusal(response: Response): Promise<ApiError> {
  const said = (await response.json().catch(() => undefined)) as
    { error?: unknown } | undefined;
  const words =
    typeof said?.error === "string"
      ? said.error
      : `The host process answered ${response.status}.`;
  return new ApiError(response.status, words);
}

let key = "";
