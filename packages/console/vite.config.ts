import { join } from "node:path";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { defineConfig } from "vite";
import { compressPlugin } from "./compress.ts";
import { documentsPlugin } from "./documents/plugin.ts";

/** Scripts of `src` and of the client by their names, without the extension. */
const sources = (names: string): RegExp => new RegExp(`(console/src|client/src/api)/(${names})\\.tsx?$`);

/** Small files that are needed together are merged: one request, and better compression. */
const groups = [
  { name: "preact", test: /node_modules\/@?preact/ },
  {
    name: "parts",
    test: sources(
      "components/(amount|block-fill|code-block|copy-button|delegate-name|error-text|format|identifier|states|table|time)",
    ),
  },
  {
    name: "forms",
    test: sources(
      "components/(count-field|equivalent-forms|equivalents|field|list-state|set-member|tabs|url-tabs)",
    ),
  },
  {
    name: "sentence",
    test: sources("components/(transactions/(asset|kinds|parts|sentence)|uniks/unik-types)"),
  },
  { name: "dialog", test: sources("components/(dialog|faults)") },
  { name: "charts", test: /console\/src\/components\/chart\// },
  {
    name: "rows",
    test: sources("components/(uniks/unik-(face|table)|transactions/(row-keys|transaction-(rows|table)))"),
  },
  { name: "lists", test: sources("components/(filters|paged-list|pager)") },
  {
    name: "signing",
    test: sources(
      "signing/(amount|outcome|sender|signer|post)|components/transactions/(use-transaction|confirmations)",
    ),
  },
  { name: "webhook-state", test: sources("screens/webhooks/(forms|health|state)") },
  {
    name: "webhook-parts",
    test: sources("screens/webhooks/(cause|queue-dialog|use-action|warnings|secret/panel)|every-event"),
  },
];

function shortWords(): string {
  let before = "";
  const coded = wordlist.map((word) => {
    const shared = [...word].findIndex((letter, index) => letter !== before[index]);
    before = word;
    return `${shared}${word.slice(shared)}`;
  });
  return `let word = "";
export const wordlist = "${coded.join("")}".match(/\\d\\D+/g)
  .map((coded) => (word = word.slice(0, +coded[0]) + coded.slice(1)));`;
}

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
    {
      // Each word begins with the number of letters that it shares with the one before: a fifth less.
      name: "short-words",
      load: (id) => (id.endsWith("wordlists/english.js") ? shortWords() : undefined),
    },
  ],
  base: "/console/",
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // Imports nothing that the page has as well: one file, a module like all others.
  worker: { format: "es", rolldownOptions: { output: { comments: false } } },
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
    rolldownOptions: {
      output: {
        // Every file contains the names of its imports: short names make all files smaller. Six digits are enough
        // for 64 files; the build fails with more.
        chunkFileNames: "assets/[name]-[hash:7].js",
        codeSplitting: { includeDependenciesRecursively: false, groups },
      },
    },
  },
});
