/** What the outer side is told, what it keeps of that, and the numbers that it keeps to. */
import { FrameError } from "./error.js";
import type { Message, PermissionRequest, SetupResult } from "./messages.js";
import type { FrameOptions } from "./transport.js";
import type { WindowControl } from "./window.js";

/** What the outer side needs to know. */
export type OuterOptions = FrameOptions & {
  /** Where the inner page is: https, or http on this machine. */
  url: string;
  /** Opens, shows, hides and closes the inner page's window. */
  control: WindowControl;
  /** The name of this connection, from an earlier setup; a new one unless told. It is a secret between the two pages. */
  sessionId?: string;
  /** Whether the page is to be seen while it is connected. */
  visible?: boolean;
  /** Browser features that a person granted at setup. */
  permissions?: readonly string[];
  /** Asked at setup which of the wanted features to grant; no page is granted anything unless this says so. */
  onpermissions?: (
    wanted: PermissionRequest[],
    origin: string,
  ) => readonly string[] | Promise<readonly string[]>;
  /** Milliseconds until the page must have announced itself; 30,000 unless told. */
  loadTimeout?: number;
  /** Milliseconds until the page must have accepted; 10,000 unless told. */
  acceptTimeout?: number;
};

/** A setup that succeeded. */
export type Setup = SetupResult & {
  /** Where the page was when it said so: to be shown beside its title, which it chose itself. */
  origin: string;
  /** What it may use while it is connected. */
  permissions: string[];
};

/** What the next generation takes over from the one before. */
export type Adopted = {
  peer: Window;
  hello: Message;
  documents: number;
  generation: number;
  reloads: number[];
};

export type Waiting<T> = {
  resolve(value: T): void;
  reject(error: FrameError): void;
};

/** How often a window is looked at, in milliseconds. */
export const LOOK = 500;

/** A page that reloads more often is left alone. */
export const RELOADS = { times: 3, within: 60_000 };

/** A transport connects once. */
export const ended = () =>
  new FrameError(
    "CLOSED",
    "the connection is closed; again() makes a fresh one",
  );
