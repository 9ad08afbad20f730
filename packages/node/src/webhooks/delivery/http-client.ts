/** The HTTP client, loaded when the first delivery is sent: a hundred modules that the start of a node need not wait for. */
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

export const httpClient = (): typeof import("undici") => load("undici");
