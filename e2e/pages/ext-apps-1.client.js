import { Client } from "@modelcontextprotocol/sdk/client/index.js";
globalThis.Client = Client;
