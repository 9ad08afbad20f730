/**
 * Citations of documents in sources and documents: "state.md 4.1", "p2p.md 6.1 and 6.3", "p2p.md 6.3 point 5",
 * "traps.md A6", and relative links of Markdown. Each document, section, item, key and anchor has to exist.
 */
import { dirname, join, normalize } from "node:path/posix";
import { readSections, type Sections } from "./sections.ts";

export type Repository = {
  /** Content of sources and documents by path from the root. */
  readonly texts: ReadonlyMap<string, string>;
  /** Whether there is a file or a folder at a path from the root. */
  readonly exists: (path: string) => boolean;
};

const SPECIFICATION = "docs/spec/";
const SOURCE = /\.(ts|mjs)$/;
const ITEM_WORD = "(?:points?|steps?|types?|rows?|lines?)";
const ITEM_NUMBERS = /\d+/g;
const LIST = "(?: *, *| +and +| +to +)";
const ITEMS = `,? +${ITEM_WORD} +\\d+(?:${LIST}\\d+)*`;
const SECTION = `(?:sections? +)?(?:\\d+(?:\\.\\d+)*(?:(?<=\\d)(?:${ITEMS}))?|[A-Z]-?\\d+[a-z]?)`;
const DOCUMENT = /(?<![\w./@}*-])((?:\.{1,2}\/|[\w@-]+\/)*[\w.-]*\w\.md)\b(?![\w/-])/g;
const CITED = new RegExp(`^\`?,? +(${SECTION}(?:${LIST}${SECTION})*)(?![\\w%])`);
const PARTS = new RegExp(`(\\d+(?:\\.\\d+)*)(${ITEMS})?|([A-Z]-?\\d+[a-z]?)`, "g");
const LINK = /\]\(([^)\s]+)\)/g;
const BARE_SECTION = /(?<!RFC +\d+ +)\bsections? +(\d+(?:\.\d+)*)/gi;
const BARE_NUMBER =
  /\(\d+\.\d+(?:(?:, | and | to )\d+(?:\.\d+)*)*\)|(?<=^ *\/?\*\*? )\d+\.\d+[,:]|\b(?:layout|line|payload|refusals|rule|step|trap) of \d+\.\d+/gi;
const TRAP = /\btraps? +([A-Z]\d+)[a-z]?(?: +and +([A-Z]\d+)[a-z]?)?/gi;
const DECISION = /\bdecisions? +(\d+)\b/gi;

/** Line breaks inside a paragraph or a comment become spaces; every offset stays what it was. */
const toFlat = (path: string, text: string): string =>
  text.replace(
    SOURCE.test(path) ? /\n[ \t]*(?:\*(?!\/)|\/\/)[ \t]*(?=\S)/g : /\n(?! *(?:\n|#|[-*|>]|\d+\. |```))/g,
    (found) => " ".repeat(found.length),
  );

const toBlank = (found: string) => " ".repeat(found.length);

/** The faults, each as "file:line: what is wrong". */
export function findCitationFaults({ texts, exists }: Repository): string[] {
  const read = new Map<string, Sections>();
  const sectionsAt = (path: string): Sections => {
    const known = read.get(path) ?? readSections(texts.get(path) ?? "");
    read.set(path, known);
    return known;
  };
  const names = new Map<string, string[]>();
  const decisions = new Set<number>();
  for (const path of texts.keys()) {
    const decision = /^docs\/decisions\/(\d+)-/.exec(path)?.[1];
    if (decision) decisions.add(Number(decision));
    if (!/^docs\/.*\.md$/.test(path) || path.startsWith(SPECIFICATION)) continue;
    const name = path.slice(path.lastIndexOf("/") + 1);
    names.set(name, [...(names.get(name) ?? []), path]);
  }

  /** A name without folder is a neighbour, of the specification, or the only one of its name in `docs`. */
  const pathOf = (name: string, from: string): string | undefined => {
    const candidates = [join(dirname(from), name), normalize(name), join("docs", name), SPECIFICATION + name];
    return candidates.find((path) => texts.has(path) || exists(path)) ?? names.get(name)?.[0];
  };

  return [...texts].flatMap(([path, text]) => {
    const faults: { readonly offset: number; readonly what: string }[] = [];
    const isSource = SOURCE.test(path);
    let flat = toFlat(path, text);

    if (path.endsWith(".md")) {
      flat = flat.replace(/(```|~~~)[\s\S]*?\1/g, toBlank);
      for (const found of flat.matchAll(LINK)) {
        const target = found[1] ?? "";
        if (/^[a-z]+:/.test(target)) continue;
        const [file = "", anchor] = target.split("#");
        const linked = file === "" ? path : join(dirname(path), file);
        if (!texts.has(linked) && !exists(linked))
          faults.push({ offset: found.index, what: `no file ${linked}` });
        else if (anchor && linked.endsWith(".md") && !sectionsAt(linked).hasAnchor(anchor))
          faults.push({ offset: found.index, what: `no heading #${anchor} in ${linked}` });
      }
      flat = flat.replace(LINK, toBlank);
    }

    let rest = flat;
    for (const found of flat.matchAll(DOCUMENT)) {
      const offset = found.index;
      const name = found[1] ?? "";
      const document = pathOf(name, path);
      if (!document) {
        faults.push({ offset, what: `no document ${name}` });
        continue;
      }
      const end = offset + name.length;
      const cited = CITED.exec(flat.slice(end, end + 200));
      if (!cited) continue;
      rest = rest.slice(0, end) + toBlank(cited[0]) + rest.slice(end + cited[0].length);
      const list = cited[1] ?? "";
      if (isSource && ((cited[0] !== ` ${list}` && !/^ {2,}/.test(cited[0])) || /section/.test(list)))
        faults.push({ offset, what: `write "${name} ${list.replace(/sections? +/g, "")}"` });
      const sections = sectionsAt(document);
      for (const [, section, items, key] of list.matchAll(PARTS)) {
        if (key && !sections.hasKey(key)) faults.push({ offset, what: `no ${key} in ${document}` });
        if (section && !sections.hasSection(section))
          faults.push({ offset, what: `no section ${section} in ${document}` });
        else if (section)
          for (const [item] of items?.matchAll(ITEM_NUMBERS) ?? [])
            if (!sections.hasItem(section, item))
              faults.push({ offset, what: `no number ${item} in section ${section} of ${document}` });
      }
    }

    const isSpecification = path.startsWith(SPECIFICATION);
    for (const { index, 0: found, 1: section = "" } of rest.matchAll(BARE_SECTION))
      if (!isSpecification) faults.push({ offset: index, what: `"${found}" names no document` });
      else if (!sectionsAt(path).hasSection(section))
        faults.push({ offset: index, what: `no section ${section} in ${path}` });
    for (const { index, 0: found, 1: first, 2: second } of rest.matchAll(TRAP))
      for (const key of [first, second])
        if (key && !sectionsAt(`${SPECIFICATION}traps.md`).hasKey(key))
          faults.push({ offset: index, what: `"${found}" is not in ${SPECIFICATION}traps.md` });
    for (const { index, 0: found, 1: number = "" } of flat.matchAll(DECISION))
      if (!decisions.has(Number(number)))
        faults.push({ offset: index, what: `"${found}" is not in docs/decisions` });
    if (isSource)
      for (const line of text.matchAll(/^[ \t]*(?:\/?\*|\/\/).*$/gm))
        for (const { index, 0: found } of line[0].matchAll(BARE_NUMBER))
          faults.push({ offset: line.index + index, what: `"${found}" names no document` });

    return faults
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, what }) => `${path}:${text.slice(0, offset).split("\n").length}: ${what}`);
  });
}
