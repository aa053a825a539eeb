/**
 * Markdown of a stranger: what models and servers write. Rendered, cleaned, and only then drawn; nothing in it is loaded
 * from anywhere, and a link opens in a window that learns nothing of this one.
 */
import DOMPurify from "dompurify";
import { marked } from "marked";
import { useMemo } from "preact/hooks";

export function Markdown({ text }: { text: string }) {
  const clean = useMemo(() => render(text), [text]);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: clean }} />;
}

export function render(text: string): string {
  const html = marked.parse(text, { async: false, gfm: true, breaks: false });
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "start", "colspan", "rowspan", "align"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^https?:\/\//i,
  });
}

// Its own instance: the hook is for what is drawn here.
const purifier = DOMPurify();
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A" || !node.hasAttribute("href")) return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
  // Words may name one place and lead to another: the person sees where before they click.
  node.setAttribute("title", node.getAttribute("href") ?? "");
});

const TAGS = (
  "a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup " +
  "table tbody td th thead tr ul"
).split(" ");
