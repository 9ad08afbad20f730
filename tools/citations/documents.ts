/** The documents of the repository, and the parts of each that can be cited. */
import { dirname, join, normalize } from "node:path/posix";
import { readSections, type Sections } from "./sections.ts";

export type Repository = {
  /** Content of sources and documents by path from the root. */
  readonly texts: ReadonlyMap<string, string>;
  /** Returns true if a file or folder exists at a path from the root. */
  readonly exists: (path: string) => boolean;
};

export type Documents = {
  /** Path of the document that a file names; undefined if it does not exist. */
  readonly find: (name: string, from: string) => string | undefined;
  /** Returns true if a file or folder exists at a path. */
  readonly has: (path: string) => boolean;
  readonly sectionsOf: (path: string) => Sections;
  readonly hasDecision: (number: number) => boolean;
};

export const SPECIFICATION = "docs/spec/";

export function createDocuments({ texts, exists }: Repository): Documents {
  const sections = new Map<string, Sections>();
  const decisions = new Set<number>();
  const byName = new Map<string, string[]>();
  for (const path of texts.keys()) {
    if (!/^docs\/.*\.md$/.test(path)) continue;
    const decision = /^docs\/decisions\/(\d+)-/.exec(path)?.[1];
    if (decision) decisions.add(Number(decision));
    const name = path.slice(path.lastIndexOf("/") + 1);
    byName.set(name, [...(byName.get(name) ?? []), path]);
  }
  const has = (path: string) => texts.has(path) || exists(path);
  return {
    has,
    /** A bare name refers to the same folder, the specification, or the only document of that name in `docs`. */
    find(name, from) {
      const candidates = [
        join(dirname(from), name),
        normalize(name),
        join("docs", name),
        SPECIFICATION + name,
      ];
      const named = byName.get(name) ?? [];
      return candidates.find(has) ?? (named.length === 1 ? named[0] : undefined);
    },
    sectionsOf(path) {
      const known = sections.get(path) ?? readSections(texts.get(path) ?? "");
      sections.set(path, known);
      return known;
    },
    hasDecision: (number) => decisions.has(number),
  };
}
