import "./fetch.view.js";
import "./fetch.htmx-4.js";
