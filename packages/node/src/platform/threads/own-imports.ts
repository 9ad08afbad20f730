/**
 * Resolves imports between the modules of this program, in the thread that loads this module. The runtime resolves each import
 * anew: it reads the status and the real path of the file, and searches its package. A starting node has 3,300 imports
 * between its own modules. Each of them names an existing file, so that nothing has to be searched.
 */
import { type ResolveFnOutput, registerHooks } from "node:module";

/** Format of all own modules: TypeScript in the workspace, JavaScript in compiled packages. */
const format = import.meta.url.endsWith(".ts") ? "module-typescript" : "module";
const extension = import.meta.url.slice(-3);
/** Folders of own modules: that of this package, and those of the other packages once they are resolved. */
const folders = [new URL("../../", import.meta.url).href];
const packages = new Map<string, ResolveFnOutput>();

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    if (parentURL === undefined || !folders.some((folder) => parentURL.startsWith(folder))) {
      return next(specifier, context);
    }
    if (specifier.startsWith(".") && specifier.endsWith(extension)) {
      return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
    }
    if (!specifier.startsWith("@uniknode/")) return next(specifier, context);
    const known = packages.get(specifier);
    if (known) return known;
    const resolved = { ...next(specifier, context), shortCircuit: true };
    packages.set(specifier, resolved);
    folders.push(new URL("./", resolved.url).href);
    return resolved;
  },
});
