/** Citations that name no document: traps, decisions, and sections of the document itself. */
import { type Documents, SPECIFICATION } from "./documents.ts";
import { type Fault, isSource } from "./text.ts";

const TRAPS = `${SPECIFICATION}traps.md`;
const TRAP = /\btraps? +([A-Z]\d+[a-z]?)(?: +and +([A-Z]\d+[a-z]?))?/gi;
const DECISION = /\bdecisions? +(\d+)\b/gi;
const SECTION = /(?<!RFC +\d+ +)\bsections? +(\d+(?:\.\d+)*)/gi;
const COMMENT_LINE = /^[ \t]*(?:\/?\*|\/\/).*$/gm;
const NUMBER_IN_COMMENT =
  /\(\d+\.\d+(?:(?:, | and | to )\d+(?:\.\d+)*)*\)|(?<=^ *\/?\*\*? )\d+\.\d+[,:]|\b(?:layout|line|payload|refusals|rule|step|trap) of \d+\.\d+/gi;

/**
 * @param text of the file
 * @param rest the text without line breaks and without citations that name a document
 */
export function unnamedFaults(path: string, text: string, rest: string, documents: Documents): Fault[] {
  const isSpecification = path.startsWith(SPECIFICATION);
  const traps = documents.sectionsOf(TRAPS);
  const own = documents.sectionsOf(path);
  return [
    ...faultsOf(rest, TRAP, (_, ...keys) =>
      keys.every((key) => key === undefined || traps.hasKey(key)) ? undefined : `is not in ${TRAPS}`,
    ),
    ...faultsOf(rest, DECISION, (_, number) =>
      documents.hasDecision(Number(number)) ? undefined : "is not in docs/decisions",
    ),
    ...faultsOf(rest, SECTION, (_, number = "") => {
      if (!isSpecification) return "names no document";
      return own.hasSection(number) ? undefined : `is not in ${path}`;
    }),
    ...(isSource(path) ? commentFaults(text) : []),
  ];
}

const commentFaults = (text: string): Fault[] =>
  [...text.matchAll(COMMENT_LINE)].flatMap(({ index, 0: line }) =>
    faultsOf(line, NUMBER_IN_COMMENT, () => "names no document").map(({ offset, what }) => ({
      offset: index + offset,
      what,
    })),
  );

/** Returns the error of each match, if any. */
const faultsOf = (
  text: string,
  pattern: RegExp,
  wrong: (...groups: (string | undefined)[]) => string | undefined,
): Fault[] =>
  [...text.matchAll(pattern)].flatMap((match) => {
    const what = wrong(...match);
    return what === undefined ? [] : [{ offset: match.index, what: `"${match[0]}" ${what}` }];
  });
