/** What a View is written with, and what a server writes into its documents: the client, the Host's look, a result's data. */
export * from "./view.js";
export * from "./theme.js";
export * from "./data.js";
