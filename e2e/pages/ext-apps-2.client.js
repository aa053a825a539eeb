import { Client } from "@modelcontextprotocol/client";
globalThis.Client = Client;
