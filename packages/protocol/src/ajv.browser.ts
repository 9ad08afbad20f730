/** The library of schemas in a browser, which loads no module later. */
import { Ajv, type Options } from "ajv";

export const createAjv = (options: Options): Ajv => new Ajv(options);
