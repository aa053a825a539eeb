import htmx from "htmx-2";
import "./fetch.backends.js";

globalThis.LIBRARIES["htmx 2"] = () => globalThis.hypertext(htmx);
