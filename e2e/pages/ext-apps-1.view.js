import * as library from "ext-apps-v1";
globalThis.library = library;
