/** Checks relative links in Markdown: file and anchor must exist. */
import { dirname, join } from "node:path/posix";
import type { Documents } from "./documents.ts";
import { type Fault, isMarkdown, toBlank } from "./text.ts";

const LINK = /\]\(([^)\s]+)\)/g;
const FENCED = /(```|~~~)[\s\S]*?\1/g;

export function linkFaults(path: string, flat: string, documents: Documents): Fault[] {
  return [...flat.matchAll(LINK)].flatMap(({ index, 1: target = "" }): Fault[] => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = "", anchor] = target.split("#");
    const linked = file === "" ? path : join(dirname(path), file);
    if (!documents.has(linked)) return [{ offset: index, what: `no file ${linked}` }];
    if (!anchor || !isMarkdown(linked) || documents.sectionsOf(linked).hasAnchor(anchor)) return [];
    return [{ offset: index, what: `no heading #${anchor} in ${linked}` }];
  });
}

export const withoutFences = (flat: string): string => flat.replace(FENCED, toBlank);
export const withoutLinks = (flat: string): string => flat.replace(LINK, toBlank);
