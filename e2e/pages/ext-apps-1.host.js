import * as peer from "ext-apps-v1/app-bridge";
globalThis.peer = peer;
