import htmx from "htmx.org";
import "./fetch.backends.js";

globalThis.LIBRARIES["htmx 4"] = () => globalThis.hypertext(htmx);
