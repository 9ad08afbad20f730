/** Searches the texts of all documents. */
import type { SearchData } from "./tree.ts";

export type Found = {
  /** URL of the document, with the anchor of the section. */
  readonly href: string;
  readonly document: string;
  /** Title of the section; empty before the first heading. */
  readonly heading: string;
  /** Excerpt around the first match, with matches at odd indices. */
  readonly excerpt: readonly string[];
};

export type Findings = {
  /** Best results. */
  readonly found: readonly Found[];
  /** Total number of matching sections. */
  readonly total: number;
};

const MAX_FOUND = 40;
const MAX_WORDS = 8;
/** Characters of an excerpt: before the first match, and in total. */
const BEFORE = 60;
const EXCERPT = 220;
/** Score of a word by position. */
const WEIGHTS = { title: 12, heading: 20, text: 1 };
const MAX_COUNTED = 5;
/** Score of the exact phrase, higher than any sum of words. */
const PHRASE = 30;

/** Finds sections that contain all words of the query, also as parts of other words. */
export function find(data: SearchData, query: string): Findings {
  const words = wordsOf(query);
  if (words.length === 0) return { found: [], total: 0 };
  const scored = data.flatMap(({ path, title, sections }) =>
    sections.flatMap((section) => {
      const score = scoreOf(words, title, section.heading, section.text);
      return score === 0 ? [] : [{ score, path, title, section }];
    }),
  );
  scored.sort((a, b) => b.score - a.score);
  return {
    total: scored.length,
    found: scored.slice(0, MAX_FOUND).map(({ path, title, section: { heading, anchor, text } }) => ({
      href: `/console/docs${path && `/${path}`}${anchor && `#${anchor}`}`,
      document: title,
      heading,
      excerpt: excerptOf(text, words),
    })),
  };
}

export const wordsOf = (query: string): readonly string[] =>
  [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== "").slice(0, MAX_WORDS);

/** Returns the score, or 0 if a word is missing. */
function scoreOf(words: readonly string[], ...[title, heading, text]: [string, string, string]): number {
  const [inTitle, inHeading, inText] = [title.toLowerCase(), heading.toLowerCase(), text.toLowerCase()];
  let score = 0;
  for (const word of words) {
    const gained =
      (inTitle.includes(word) ? WEIGHTS.title : 0) +
      (inHeading.includes(word) ? WEIGHTS.heading : 0) +
      Math.min(inText.split(word).length - 1, MAX_COUNTED) * WEIGHTS.text;
    if (gained === 0) return 0;
    score += gained;
  }
  // A match in the document title alone counts only for its first section.
  if (heading !== "" && !words.some((word) => inHeading.includes(word) || inText.includes(word))) return 0;
  const phrase = words.join(" ");
  return words.length > 1 && (inHeading.includes(phrase) || inText.includes(phrase)) ? score + PHRASE : score;
}

/** Returns the excerpt around the longest word, split at all words: matches have odd indices. */
export function excerptOf(text: string, words: readonly string[]): readonly string[] {
  const pattern = new RegExp(
    `(${words.map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, "\\$&")).join("|")})`,
    "gi",
  );
  const [longest = ""] = words.toSorted((a, b) => b.length - a.length);
  const first = Math.max(0, text.toLowerCase().indexOf(longest));
  const begin = first <= BEFORE ? 0 : text.lastIndexOf(" ", first - BEFORE) + 1;
  const end = begin + EXCERPT >= text.length ? text.length : text.lastIndexOf(" ", begin + EXCERPT);
  const part = text.slice(begin, Math.max(end, first + 1));
  const parts = `${begin > 0 ? "… " : ""}${part}${begin + part.length < text.length ? " …" : ""}`;
  return parts.split(pattern);
}
