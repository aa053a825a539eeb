/** The frame and the popup, as far as a document without a browser shows them; the rest is in e2e. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { IframeControl, PopupControl, type FrameError } from "transom/frames";
import { INNER, LinkedWindow, URL_OF_INNER } from "./frames-world.js";
import { FakeWindow, mockFrames } from "./stage.js";

afterEach(() => document.body.replaceChildren());

function opened(
  options: ConstructorParameters<typeof IframeControl>[0] = {},
  permissions: string[] = [],
) {
  mockFrames(new FakeWindow());
  const control = new IframeControl(options);
  control.open(INNER, permissions);
  return { control, frame: control.frame! };
}

describe("a frame", () => {
  test("SEC-13 is sandboxed before it has an address, and keeps its origin", () => {
    const { control, frame } = opened();
    expect(frame.getAttribute("sandbox")).toBe(
      "allow-scripts allow-forms allow-same-origin",
    );
    expect(frame.getAttribute("src")).toBeNull();
    control.navigate(URL_OF_INNER);
    expect(frame.src).toBe(URL_OF_INNER);
  });

  test("SEC-13 a page of our own origin is refused, unless it is opaque", () => {
    const control = new IframeControl();
    expect(() => control.open(self.origin, [])).toThrow(
      expect.objectContaining({ code: "SAME_ORIGIN" }),
    );
    expect(document.querySelector("iframe")).toBeNull();
    const { frame } = opened(
      { opaque: true, sandbox: ["allow-same-origin", "allow-downloads"] },
      ["camera"],
    );
    expect(frame.getAttribute("sandbox")).toBe(
      "allow-scripts allow-forms allow-downloads",
    );
    expect(frame.getAttribute("allow")).toBe("");
  });

  test("SEC-14 ATK-25 defect 6: what it may use stands there before its address, bound to its origin", () => {
    const { frame } = opened({}, ["camera", "geolocation", "usb *; midi", "*"]);
    expect(frame.getAttribute("allow")).toBe(
      `camera ${INNER}; geolocation ${INNER}`,
    );
  });

  test("VIS-1 VIS-6 defect 15: hidden is laid out, unseen and out of reach", () => {
    const { frame } = opened({ title: "Pi" });
    const { display, visibility, position, width } = frame.style;
    expect([display, visibility, position, width]).toEqual([
      "",
      "hidden",
      "fixed",
      "1px",
    ]);
    expect([
      frame.tabIndex,
      frame.getAttribute("aria-hidden"),
      frame.title,
    ]).toEqual([-1, "true", "Pi"]);
    expect(frame.getAttribute("loading")).toBeNull();
  });

  test("VIS-4 shown and hidden twenty times, it is the same frame in the same place", () => {
    const { control, frame } = opened();
    const moved = vi.spyOn(frame, "remove");
    for (let i = 0; i < 20; i++) {
      control.show();
      expect(frame.style.visibility).toBe("");
      control.hide();
    }
    expect(control.frame).toBe(frame);
    expect(frame.isConnected).toBe(true);
    expect(moved).not.toHaveBeenCalled();
  });

  test("counts the loads of its page, and says when it was removed", () => {
    const { control, frame } = opened();
    frame.dispatchEvent(new Event("load"));
    expect(control.loads).toBe(0);
    control.navigate(URL_OF_INNER);
    frame.dispatchEvent(new Event("load"));
    expect(control.loads).toBe(1);
    expect(control.gone).toBe(false);
    frame.remove();
    expect(control.gone).toBe(true);
  });

  test("SEC-22 lets go of a frame that it removed", () => {
    const { control, frame } = opened();
    control.destroy();
    control.destroy();
    expect([frame.isConnected, control.frame, control.gone]).toEqual([
      false,
      undefined,
      false,
    ]);
    control.show();
    control.hide();
  });

  test("a container that is not in the document is named", () => {
    Object.defineProperty(HTMLIFrameElement.prototype, "contentWindow", {
      configurable: true,
      get: () => null,
    });
    const control = new IframeControl({
      container: document.createElement("div"),
    });
    expect(() => control.open(INNER, [])).toThrow(
      expect.objectContaining({ code: "FRAME_REMOVED" }),
    );
  });
});

describe("a popup", () => {
  const popup = () => {
    const page = new LinkedWindow(INNER);
    const replace = vi.fn();
    const focus = vi.fn();
    Object.assign(page, { location: { replace }, focus });
    const open = vi.fn(() => page as unknown as Window);
    vi.spyOn(window, "open").mockImplementation(open);
    return { page, open, replace, focus };
  };

  test("WIN-3 ATK-24 defect 11: every one has a name of its own, and keeps its opener", () => {
    const { open } = popup();
    for (let i = 0; i < 2; i++)
      new PopupControl({ width: 300, height: 200 }).open();
    const calls = open.mock.calls as unknown as [string, string, string][];
    expect(calls[0]![1]).not.toBe(calls[1]![1]);
    expect(calls[0]![0]).toBe("");
    expect(calls[0]![2]).toBe("popup,width=300,height=200");
    expect(calls.join()).not.toMatch(/noopener|noreferrer/);
  });

  test("WIN-2 WIN-8 blocked is said as such", () => {
    vi.spyOn(window, "open").mockReturnValue(null);
    let error: FrameError | undefined;
    try {
      new PopupControl().open();
    } catch (thrown) {
      error = thrown as FrameError;
    }
    expect(error).toMatchObject({
      code: "POPUP_BLOCKED",
      message: expect.stringContaining("click") as string,
    });
  });

  test("VIS-8 is shown, never hidden, and closed", () => {
    const { page, replace, focus } = popup();
    const control = new PopupControl();
    control.open();
    control.navigate(URL_OF_INNER);
    expect(replace).toHaveBeenCalledWith(URL_OF_INNER);
    control.show();
    control.hide();
    expect(focus).toHaveBeenCalledOnce();
    expect(control.gone).toBe(false);
    page.close();
    expect(control.gone).toBe(true);
    control.destroy();
    expect(control.gone).toBe(false);
  });
});
