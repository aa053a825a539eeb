import "./fetch.view.js";
import "./fetch.libraries.js";
