/** Location of a thread's code. */
import { extname } from "node:path";

/**
 * Returns the URL of a neighbouring module with the same extension: `.ts` in the workspace, `.js` in compiled
 * packages.
 *
 * @param importer `import.meta.url` of the calling module
 * @param name without folder and extension
 */
export const moduleBeside = (importer: string, name: string): URL =>
  new URL(`./${name}${extname(importer)}`, importer);
