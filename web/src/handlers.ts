/** Handlers for any method, as ext-apps takes them: by the method's name, or by a schema that has it. */
import { check, type RequestExtra } from "./tools.js";
import type { StandardSchemaV1 } from "./standard.js";
import type { CallToolParams, Json, ListParams } from "./wire.js";

/** A method with the type of its message: what of a zod object is looked at here. */
export type MethodSchema = {
  readonly shape: { readonly method: { readonly value: unknown } };
  readonly _output: unknown;
};

/** What the Host may ask, as its handlers are given it. */
type Requests = {
  ping: { method: "ping"; params?: Json };
  "tools/call": { method: "tools/call"; params: CallToolParams };
  "tools/list": { method: "tools/list"; params?: ListParams };
};

/** The three ways of saying who answers a request. */
export interface RequestHandlerSetter {
  <M extends keyof Requests>(
    method: M,
    handler: (request: Requests[M], extra: RequestExtra) => unknown,
  ): void;
  /** The handler takes the whole request. */
  (
    method: string,
    handler: (
      request: { method: string; params?: Json },
      extra: RequestExtra,
    ) => unknown,
  ): void;
  /** The handler takes the params, once they are checked. What it answers is not. */
  <P extends StandardSchemaV1>(
    method: string,
    checks: { params: P; result?: StandardSchemaV1 | undefined },
    handler: (
      params: StandardSchemaV1.InferOutput<P>,
      extra: RequestExtra,
    ) => unknown,
  ): void;
  /** With a schema in the place of the method, as in ext-apps' first version. */
  <S extends MethodSchema>(
    schema: S,
    handler: (request: S["_output"], extra: RequestExtra) => unknown,
  ): void;
}

/** The three ways of saying who hears a notification. */
export interface NotificationHandlerSetter {
  /** The handler takes the whole notification. */
  (
    method: string,
    handler: (notification: { method: string; params?: Json }) => unknown,
  ): void;
  /** The handler takes the params, once they are checked. */
  <P extends StandardSchemaV1>(
    method: string,
    checks: { params: P },
    handler: (
      params: StandardSchemaV1.InferOutput<P>,
      notification: { method: string; params?: Json },
    ) => unknown,
  ): void;
  /** With a schema in the place of the method, as in ext-apps' first version. */
  <S extends MethodSchema>(
    schema: S,
    handler: (notification: S["_output"]) => unknown,
  ): void;
}

/** What a handler of ext-apps' newer form checks before it runs. */
type Checks = { params?: unknown };
type Run = (what: Json, more?: unknown) => unknown;

/** A method's name, or whatever has one in its `shape`, as zod's objects do: nothing else of it is looked at. */
type Named =
  string | { shape?: { method: { value: string }; params?: unknown } };

/**
 * Makes the methods that set handlers. A handler that comes with checks of its own is run with the params, every other
 * one with the whole message. Those of notifications tell `failed` what they threw, and stand under a key of their own:
 * beside the `on…` property and the listeners, not in their place.
 */
export const handlersOf =
  (
    set: (
      method: string,
      run: (params: Json, extra?: RequestExtra) => unknown,
      key?: string,
    ) => void,
  ) =>
  (failed?: (error: unknown) => void) =>
  (named: Named, checks: Checks | Run, run?: Run): void => {
    const { shape } = named as Exclude<Named, string>;
    const method = shape?.method.value ?? (named as string);
    const handle = async (given: Json, extra?: RequestExtra) => {
      const wanted = run ? (checks as Checks).params : shape?.params;
      const params = (await check(wanted, given)) as Json;
      const message = { method, params };
      return run
        ? run(params, extra ?? message)
        : (checks as Run)(message, extra);
    };
    if (failed) set(method, (params) => handle(params).catch(failed), method);
    else set(method, handle);
  };
