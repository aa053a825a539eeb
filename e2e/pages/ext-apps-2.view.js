import * as library from "@modelcontextprotocol/ext-apps";
globalThis.library = library;
