import "./fetch.view.js";
import "./fetch.htmx-2.js";
