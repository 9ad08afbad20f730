/** Resolves the links of documents to addresses in the console. */
import { posix } from "node:path";

const CONSOLE = "/console/docs";
const OTHER_HOST = /^https?:\/\//;
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** `guides/install.md` is at `guides/install`; the README of a folder is the folder. */
export const addressOf = (file: string): string => file.replace(/\.md$/, "").replace(/(^|\/)README$/, "");

/**
 * @param file path of the document with the link, relative to the folder of documents
 * @returns undefined for a file that is not a document
 */
export function resolveLink(file: string, href: string): string | undefined {
  if (OTHER_HOST.test(href) || href.startsWith("#")) return href;
  if (OTHER_SCHEME.test(href)) return undefined;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(file), path);
  const isDocument = !target.startsWith("..") && (target.endsWith(".md") || posix.extname(target) === "");
  if (!isDocument) return undefined;
  const address = addressOf(target);
  return `${CONSOLE}${address && `/${address}`}${anchor === undefined ? "" : `#${anchor}`}`;
}
