/**
 * Writes the URL of every module that a thread loads to the file that LOADED_MODULES names. Loaded with `node
 * --import`.
 */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
    return next(url, context);
  },
});
