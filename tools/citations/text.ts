/** Prepares text for the search for citations. Offsets do not change, so that an error can name its line. */

/** An error at an offset of a file. */
export type Fault = { readonly offset: number; readonly what: string };

const SOURCE = /\.(ts|mjs)$/;
const BREAK_IN_COMMENT = /\n[ \t]*(?:\*(?!\/)|\/\/)[ \t]*(?=\S)/g;
const BREAK_IN_PARAGRAPH = /\n(?! *(?:\n|#|[-*|>]|\d+\. |```))/g;

export const isSource = (path: string): boolean => SOURCE.test(path);
export const isMarkdown = (path: string): boolean => path.endsWith(".md");

/** Replaces a text by spaces of the same length. */
export const toBlank = (found: string): string => " ".repeat(found.length);

/** Line breaks inside a comment or a paragraph become spaces: a citation can span lines. */
export const joinLines = (path: string, text: string): string =>
  text.replace(isSource(path) ? BREAK_IN_COMMENT : BREAK_IN_PARAGRAPH, toBlank);
