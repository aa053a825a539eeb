/** What `<transom-view>` tells its page, as events. */
import type {
  Ask,
  Called,
  Deed,
  Fallback,
  Obstacles,
  Offers,
  Opened,
  Progress,
} from "./envelope.js";
import type { DisplayMode } from "./wire.js";

export type {
  Ask,
  Called,
  Carried,
  Container,
  Deed,
  Facts,
  Fallback,
  Obstacles,
  Offers,
  Opened,
  PageLimits,
  Progress,
  Said,
  Told,
  ToolCall,
} from "./envelope.js";

/** What the element reports; every event bubbles. */
export type TransomViewEvents = {
  /** The frame is there. */
  "transom-open": CustomEvent<Opened>;
  /** A person must decide; call `preventDefault()` and later `answer`, or it counts as denied. */
  "transom-ask": CustomEvent<Ask & { answer: (choice: string) => void }>;
  /** A question is moot. */
  "transom-withdraw": CustomEvent<{ id: string }>;
  /** There is no view, or none any more: show this in its place. */
  "transom-text": CustomEvent<Fallback>;
  /** How the call of the view's tool gets on; `say({ cancel: {} })` takes it back. */
  "transom-progress": CustomEvent<Progress>;
  /** That call has come to its end; why, where that is not said otherwise. */
  "transom-settled": CustomEvent<{ text: string }>;
  /** Something that the person should know about the view, which goes on. */
  "transom-note": CustomEvent<{ text: string }>;
  /** The view has not got ready for a while; what is known of it. */
  "transom-quiet": CustomEvent<{ text: string }>;
  /** What form the view has, where that is a deprecated one; without words, none of these any more. */
  "transom-banner": CustomEvent<{ text: string }>;
  /** What the view was kept from so far; `say({ grant })` asks the person whether it gets it. */
  "transom-blocked": CustomEvent<Obstacles>;
  /** Open a link or save files, now; tell with `say({ did })` what came of it. */
  "transom-do": CustomEvent<Deed>;
  /** The tools that the view offers now; `say({ call })` calls one. */
  "transom-tools": CustomEvent<Offers>;
  /** What came of a call. */
  "transom-called": CustomEvent<Called>;
  "transom-resize": CustomEvent<{ width?: number; height?: number }>;
  "transom-mode": CustomEvent<{ mode: DisplayMode }>;
  "transom-lane": CustomEvent<{ lane: "window" | "port" }>;
  /** The view is gone, and why. */
  "transom-close": CustomEvent<{ reason: string }>;
};

/** What an event is called without what all of them begin with. */
export type EventKind<E = keyof TransomViewEvents> =
  E extends `transom-${infer K}` ? K : never;

declare global {
  interface HTMLElementEventMap extends TransomViewEvents {}
}
