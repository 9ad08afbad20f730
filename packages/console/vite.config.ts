import { join } from "node:path";
import { defineConfig } from "vite";
import { compressPlugin } from "./compress.ts";
import { documentsPlugin } from "./documents/plugin.ts";

/** Files for the node, which serves them below `/console/` (README, build). */
export default defineConfig({
  plugins: [
    documentsPlugin(join(import.meta.dirname, "../../docs")),
    compressPlugin(),
    {
      // Nothing is painted before the theme that was chosen is known; vite drops the attribute of the source.
      name: "block-rendering",
      transformIndexHtml: (html) =>
        html.replace('<script type="module"', '<script type="module" blocking="render"'),
    },
    {
      // Nothing is loaded ahead of a screen (below), so that its own file is all that is imported: without the helper of
      // vite, every page begins with a kilobyte less.
      name: "plain-imports",
      enforce: "pre",
      load: (id) =>
        id.endsWith("vite/preload-helper.js") ? "export const __vitePreload = (load) => load();" : undefined,
    },
  ],
  base: "/console/",
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // Imports nothing that the page has as well: one file, a module like all others.
  worker: { format: "es" },
  build: {
    // `light-dark()`, nesting and popovers: browsers since 2024.
    target: ["chrome125", "firefox130", "safari18"],
    // One style sheet for all screens, and no preloading: both would need a script that every page begins with.
    cssCodeSplit: false,
    modulePreload: false,
    // Files of a build of before would be served as well.
    emptyOutDir: true,
    // An image inlined in a stylesheet is a request less, and `img-src data:` is allowed.
    assetsInlineLimit: 2_048,
    reportCompressedSize: false,
  },
});
