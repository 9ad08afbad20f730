/** The library of schemas where Node.js runs. */
import { createRequire } from "node:module";
import type { Ajv, Options } from "ajv";

const load = createRequire(import.meta.url);

/** The library is loaded at its first use: not every thread checks schemas. */
export function createAjv(options: Options): Ajv {
  const library = load("ajv") as typeof import("ajv");
  return new library.Ajv(options);
}
