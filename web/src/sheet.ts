/** What `<transom-view>` looks like. */

/** A constructed sheet needs no exception in the page's policy, and one serves all. */
export const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`:host{display:block}div{padding:0;border:0;background:Canvas;color-scheme:light dark}\
:host([border]) .inline,.pip{border:1px solid GrayText;border-radius:8px;overflow:hidden}\
iframe{display:block;border:0;width:100%;height:var(--height)}\
button{position:absolute;top:8px;right:8px;font-size:20px}\
.inline button{display:none}\
.fullscreen,.fullscreen iframe{margin:0;width:100%;height:100%}\
.pip{width:min(var(--width,360px),90vw);inset:auto 8px 8px auto;max-height:80vh}`);
