/** Loads the HTTP client with the first delivery: its hundred modules would delay the start of the node. */
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

export const httpClient = (): typeof import("undici") => load("undici");
