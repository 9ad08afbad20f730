/** Build step that writes the documents of the repository next to the scripts. */
import type { Plugin } from "vite";
import { CONTENTS_FILE, documentFile, SEARCH_FILE } from "../src/screens/docs/tree.ts";
import { readLibrary } from "./library.ts";

/** @param folder of Markdown files */
export const documentsPlugin = (folder: string): Plugin => ({
  name: "documents",
  generateBundle() {
    const { documents, contents, search } = readLibrary(folder);
    const write = (fileName: string, value: unknown) =>
      this.emitFile({ type: "asset", fileName, source: JSON.stringify(value) });
    write(CONTENTS_FILE, contents);
    write(SEARCH_FILE, search);
    for (const [path, document] of documents) write(documentFile(path), document);
  },
});
