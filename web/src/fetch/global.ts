/** What a server with an `HttpProxy` writes into its documents: the client of a View, and what carries its requests. */
export * from "../client.js";
export * from "./index.js";
