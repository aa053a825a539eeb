import * as library from "transom";
globalThis.library = library;
