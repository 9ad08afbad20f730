/** Citations that name a document: "state.md 4.1", "p2p.md 6.1 and 6.3", "p2p.md 6.3 point 5", "traps.md A6". */
import type { Documents } from "./documents.ts";
import type { Sections } from "./sections.ts";
import { type Fault, isSource, toBlank } from "./text.ts";

const LIST = "(?: *, *| +and +| +to +)";
const ITEMS = `,? +(?:points?|steps?|types?|rows?|lines?) +\\d+(?:${LIST}\\d+)*`;
const KEY = "[A-Z]-?\\d+[a-z]?";
const PLACE = `(?:sections? +)?(?:\\d+(?:\\.\\d+)*(?:${ITEMS})?|${KEY})`;
const DOCUMENT = /(?<![\w./@}*-])((?:\.{1,2}\/|[\w@-]+\/)*[\w.-]*\w\.md)\b(?![\w/-])/g;
const PLACES = new RegExp(`^\`?,? +(${PLACE}(?:${LIST}${PLACE})*)(?![\\w%])`);
const PARTS = new RegExp(`(\\d+(?:\\.\\d+)*)(${ITEMS})?|(${KEY})`, "g");

/** Characters after the name of a document in which its sections are searched. */
const MAX_PLACES = 200;

/** Returns the errors, and the text without these citations: a remaining section number names no document. */
export function citedFaults(
  path: string,
  flat: string,
  documents: Documents,
): { faults: Fault[]; rest: string } {
  const faults: Fault[] = [];
  let rest = flat;
  for (const { index: offset, 1: name = "" } of flat.matchAll(DOCUMENT)) {
    const fault = (what: string) => faults.push({ offset, what });
    const document = documents.find(name, path);
    if (!document) {
      fault(`no document ${name}`);
      continue;
    }
    const end = offset + name.length;
    const found = PLACES.exec(flat.slice(end, end + MAX_PLACES));
    if (!found) continue;
    const [all, places = ""] = found;
    rest = rest.slice(0, end) + toBlank(all) + rest.slice(end + all.length);
    if (isSource(path) && !isInForm(all)) fault(`write "${name} ${places.replace(/sections? +/g, "")}"`);
    for (const what of placeFaults(places, documents.sectionsOf(document))) fault(`${what} in ${document}`);
  }
  return { faults, rest };
}

/** Sources use one form, which can be searched for; documents may also write "section". */
const isInForm = (all: string): boolean => /^ +\w/.test(all) && !/section/.test(all);

function placeFaults(places: string, sections: Sections): string[] {
  return [...places.matchAll(PARTS)].flatMap(([, section, items = "", key]): string[] => {
    if (key !== undefined) return sections.hasKey(key) ? [] : [`no ${key}`];
    if (section === undefined || !sections.hasSection(section)) return [`no section ${section}`];
    return (items.match(/\d+/g) ?? [])
      .filter((item) => !sections.hasItem(section, item))
      .map((item) => `no number ${item} of section ${section}`);
  });
}
