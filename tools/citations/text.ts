/** Text in which citations are looked for: offsets stay those of the file, so that a fault can name its line. */

/** A fault at an offset of a file. */
export type Fault = { readonly offset: number; readonly what: string };

const SOURCE = /\.(ts|mjs)$/;
const BREAK_IN_COMMENT = /\n[ \t]*(?:\*(?!\/)|\/\/)[ \t]*(?=\S)/g;
const BREAK_IN_PARAGRAPH = /\n(?! *(?:\n|#|[-*|>]|\d+\. |```))/g;

export const isSource = (path: string): boolean => SOURCE.test(path);
export const isMarkdown = (path: string): boolean => path.endsWith(".md");

/** As many spaces. */
export const toBlank = (found: string): string => " ".repeat(found.length);

/** Line breaks inside a comment or a paragraph become spaces: a citation may go over the end of a line. */
export const joinLines = (path: string, text: string): string =>
  text.replace(isSource(path) ? BREAK_IN_COMMENT : BREAK_IN_PARAGRAPH, toBlank);
