import { defineConfig } from "vite";

/** Files for the node, which serves them below `/console/` (README, build). */
export default defineConfig({
  plugins: [
    {
      // Nothing is painted before the theme that was chosen is known; vite drops the attribute of the source.
      name: "block-rendering",
      transformIndexHtml: (html) =>
        html.replace('<script type="module"', '<script type="module" blocking="render"'),
    },
  ],
  base: "/console/",
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    // Every supported browser preloads modules, and the polyfill would be a script of its own.
    modulePreload: { polyfill: false },
    // Files of a build of before would be served as well.
    emptyOutDir: true,
    // An image inlined in a stylesheet is a request less, and `img-src data:` is allowed.
    assetsInlineLimit: 2_048,
    reportCompressedSize: false,
  },
});
