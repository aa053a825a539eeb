/** Events by name, each with one handler that can be replaced and any number of listeners: ext-apps' class of that name. */
export class EventDispatcher<EventMap extends Record<string, unknown>> {
  declare setHandler: <K extends keyof EventMap>(
    event: K,
    handler: Heard<EventMap[K]> | undefined,
  ) => void;
  declare getHandler: <K extends keyof EventMap>(
    event: K,
  ) => Heard<EventMap[K]> | undefined;
  declare addEventListener: <K extends keyof EventMap>(
    event: K,
    handler: Heard<EventMap[K]>,
  ) => void;
  declare removeEventListener: <K extends keyof EventMap>(
    event: K,
    handler: Heard<EventMap[K]>,
  ) => void;
  /** The handler first, then the listeners in the order in which they came. */
  declare dispatch: <K extends keyof EventMap>(
    event: K,
    params: EventMap[K],
  ) => void;

  constructor() {
    const all: { [K in keyof EventMap]?: (Heard<never> | undefined)[] } = {};
    const of = (event: keyof EventMap) => (all[event] ??= [undefined]);
    const methods: EventDispatcher<EventMap> = {
      setHandler: (event, handler) => void (of(event)[0] = handler),
      getHandler: (event) => of(event)[0] as never,
      addEventListener: (event, handler) => void of(event).push(handler),
      removeEventListener(event, handler) {
        const at = of(event).indexOf(handler, 1);
        if (at > 0) of(event).splice(at, 1);
      },
      // A copy: who comes or goes meanwhile counts from the next time on.
      dispatch: (event, params) =>
        [...of(event)].forEach((hear) => hear?.(params as never)),
    };
    Object.assign(this, methods);
  }
}

type Heard<P> = (params: P) => void;
