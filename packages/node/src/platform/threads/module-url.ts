/** Location of a thread's code. */
import { extname } from "node:path";

/**
 * A module beside another one, with the same extension: `.ts` in the workspace, `.js` in the packages that are compiled
 * from it.
 *
 * @param importer `import.meta.url` of the other one
 * @param name without folder and extension
 */
export const moduleBeside = (importer: string, name: string): URL =>
  new URL(`./${name}${extname(importer)}`, importer);
