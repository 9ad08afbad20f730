/** Citable parts of a Markdown document: heading numbers, table keys, anchors. */

export type Sections = {
  /** Returns true if a heading starts with the number, such as "4.1". */
  readonly hasSection: (number: string) => boolean;
  /** Returns true if the section has a list item or a table row with the number. */
  readonly hasItem: (section: string, item: string) => boolean;
  /** Returns true if a table row starts with the key, such as "A6"; a letter after it, as in "A6c", is a part of the row. */
  readonly hasKey: (key: string) => boolean;
  /** Returns true if a heading has the anchor, as GitHub makes it. */
  readonly hasAnchor: (anchor: string) => boolean;
};

const HEADING = /^(#{1,6}) +(.*?) *#*$/;
const NUMBER = /^(\d+(?:\.\d+)*)\.?(?: |$)/;
const KEY = /^\| *`?([A-Z]-?\d+[a-z]?)`? *\|/;
const ROW = /^\| *(\d+)\b/;
const ITEMS = /(?:^ *|; )(?:\*\*)?(\d+)\. /g;

/** Converts a heading to its anchor: keeps the text of links, removes punctuation, replaces spaces by hyphens. */
const toSlug = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

export function readSections(markdown: string): Sections {
  const items = new Map<string, Set<string>>();
  const keys = new Set<string>();
  const anchors = new Set<string>();
  let open: { readonly level: number; readonly number: string }[] = [];
  let isFenced = false;
  for (const line of markdown.split("\n")) {
    if (/^ *(```|~~~)/.test(line)) isFenced = !isFenced;
    const heading = isFenced ? null : HEADING.exec(line);
    if (heading) {
      const level = heading[1]?.length ?? 0;
      const text = heading[2] ?? "";
      const slug = toSlug(text);
      let anchor = slug;
      for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
      anchors.add(anchor);
      open = open.filter((section) => section.level < level);
      const number = NUMBER.exec(text)?.[1];
      if (number) {
        open.push({ level, number });
        items.set(number, new Set());
      }
      continue;
    }
    const key = KEY.exec(line)?.[1];
    if (key) keys.add(key);
    const found = [ROW.exec(line), ...line.matchAll(ITEMS)].flatMap((match) => match?.[1] ?? []);
    for (const { number } of open) for (const item of found) items.get(number)?.add(item);
  }
  return {
    hasSection: (number) => items.has(number),
    hasItem: (section, item) => items.get(section)?.has(item) ?? false,
    hasKey: (key) => keys.has(key) || keys.has(key.replace(/[a-z]$/, "")),
    hasAnchor: (anchor) => anchors.has(anchor),
  };
}
