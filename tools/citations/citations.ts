/**
 * Checks citations in sources and documents: cited documents, sections, list items, table keys, decisions, linked files and
 * headings must exist.
 */
import { citedFaults } from "./cited.ts";
import { createDocuments, type Repository } from "./documents.ts";
import { linkFaults, withoutFences, withoutLinks } from "./links.ts";
import { isMarkdown, joinLines } from "./text.ts";
import { unnamedFaults } from "./unnamed.ts";

/** Returns the errors, each as "file:line: message". */
export function findCitationFaults(repository: Repository): string[] {
  const documents = createDocuments(repository);
  return [...repository.texts].flatMap(([path, text]) => {
    const joined = joinLines(path, text);
    const flat = isMarkdown(path) ? withoutFences(joined) : joined;
    const links = isMarkdown(path) ? linkFaults(path, flat, documents) : [];
    const { faults, rest } = citedFaults(path, isMarkdown(path) ? withoutLinks(flat) : flat, documents);
    return [...links, ...faults, ...unnamedFaults(path, text, rest, documents)]
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, what }) => `${path}:${text.slice(0, offset).split("\n").length}: ${what}`);
  });
}
