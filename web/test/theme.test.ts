import { beforeEach, expect, test } from "vitest";
import {
  applyDocumentTheme,
  applyHostFonts,
  applyHostStyles,
  applyHostStyleVariables,
  getDocumentTheme,
} from "transom";

const root = document.documentElement;

beforeEach(() => {
  root.removeAttribute("style");
  root.removeAttribute("data-theme");
  root.className = "";
});

test("V-14 the theme is on the document, with its color scheme", () => {
  expect(getDocumentTheme()).toBe("light");
  root.className = "dark";
  expect(getDocumentTheme()).toBe("dark");
  applyDocumentTheme("light");
  expect(root.dataset.theme).toBe("light");
  expect(root.style.colorScheme).toBe("light");
  expect(getDocumentTheme()).toBe("light");
});

test("style variables go to the root or to an element; nothing else does", () => {
  const element = document.createElement("p");
  const styles = {
    "--font-sans": "x",
    "--font-mono": undefined,
    display: "none",
  };
  applyHostStyleVariables(styles, element);
  expect(element.style.getPropertyValue("--font-sans")).toBe("x");
  expect(element.style.display).toBe("");
});

test("fonts are replaced when they change", () => {
  applyHostFonts("@font-face{font-family:a}");
  applyHostFonts("@font-face{font-family:b}");
  const sheets = [...document.head.querySelectorAll("style")].map(
    (style) => style.textContent,
  );
  expect(sheets).toEqual(["@font-face{font-family:b}"]);
});

test("one call applies everything that a context says, and only that", () => {
  applyHostStyles({
    theme: "dark",
    styles: {
      variables: { "--color-text-primary": "red" },
      css: { fonts: "@font-face{}" },
    },
    safeAreaInsets: { top: 1, right: 2, bottom: 3, left: 4 },
  });
  expect(root.dataset.theme).toBe("dark");
  expect(root.style.getPropertyValue("--color-text-primary")).toBe("red");
  expect(root.style.getPropertyValue("--safe-area-left")).toBe("4px");
  applyHostStyles({ locale: "de" });
  expect(root.dataset.theme).toBe("dark");
  applyHostStyles(undefined);
  expect(root.style.getPropertyValue("--color-text-primary")).toBe("red");
});

test("the flat styles of earlier drafts are taken", () => {
  applyHostStyles({ styles: { "--font-sans": "y" } as object });
  expect(root.style.getPropertyValue("--font-sans")).toBe("y");
});
