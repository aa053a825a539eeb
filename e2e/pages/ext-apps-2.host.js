import * as peer from "@modelcontextprotocol/ext-apps/app-bridge";
globalThis.peer = peer;
