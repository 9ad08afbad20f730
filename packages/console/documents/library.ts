/** Builds the library of a folder: the trees of its documents, their order in lists, and the data of the search. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import {
  type Block,
  type Contents,
  type Document,
  type Inline,
  type SearchData,
  textOf,
} from "../src/screens/docs/tree.ts";
import { addressOf, resolveLink } from "./links.ts";
import { parse } from "./parse.ts";

export type Library = {
  /** Documents by their path after `/console/docs/`. */
  readonly documents: ReadonlyMap<string, Document>;
  readonly contents: Contents;
  readonly search: SearchData;
};

/** Groups in the order of the first page. */
const GROUPS = [
  { folder: "", title: "Start" },
  { folder: "guides", title: "Guides" },
  { folder: "reference", title: "Reference" },
  { folder: "spec", title: "Specification" },
  { folder: "decisions", title: "Decisions" },
];

/** @throws {Error} on a file that cannot be shown */
export function readLibrary(folder: string): Library {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.replaceAll(sep, "/"))
    .sort();
  const documents = new Map(files.map((file) => [addressOf(file), readDocument(folder, file)]));
  const order = readingOrder(documents);
  const contents = GROUPS.map(({ folder, title }) => ({
    title,
    documents: [...documents]
      .filter(([path]) => folderOf(path, documents) === folder)
      .map(([path, { title }]) => ({ path, title }))
      .sort((a, b) => positionOf(order, a.path) - positionOf(order, b.path)),
  }));
  for (const { folder, title } of GROUPS) {
    if (!documents.has(folder)) documents.set(folder, listOf(title, folder, contents));
  }
  return { documents, contents, search: searchDataOf(contents, documents) };
}

function readDocument(folder: string, file: string): Document {
  const [first, ...blocks] = parse(readFileSync(join(folder, file), "utf8"), (href) =>
    resolveLink(file, href),
  );
  if (first?.kind !== "heading" || first.level !== 1) throw new Error(`${file} begins with no title`);
  return { title: textOf(first.children), anchor: first.anchor, blocks };
}

/** Returns the folder of a document; the README of a folder is in that folder. */
const folderOf = (path: string, documents: ReadonlyMap<string, Document>): string => {
  const isFolder = GROUPS.some(({ folder }) => folder === path) && documents.has(path);
  return isFolder ? path : path.split("/").slice(0, -1).join("/");
};

/** Orders documents: the page of each folder, followed by the pages that it links to; the others by name. */
function readingOrder(documents: ReadonlyMap<string, Document>): readonly string[] {
  return GROUPS.flatMap(({ folder }) => {
    const own = documents.get(folder);
    if (!own) return [];
    const linked = linksOf(own.blocks).map((href) => href.replace(/#.*/s, "").replace("/console/docs/", ""));
    return [folder, ...linked];
  });
}

const positionOf = (order: readonly string[], path: string): number => {
  const position = order.indexOf(path);
  return position === -1 ? order.length : position;
};

/** The page of a folder without one: its documents. */
function listOf(title: string, folder: string, contents: Contents): Document {
  const listed = contents
    .flatMap(({ documents }) => documents)
    .filter(({ path }) => path.startsWith(`${folder}/`));
  const items = listed.map(({ path, title }): readonly Block[] => [
    { kind: "paragraph", children: [{ kind: "link", href: `/console/docs/${path}`, children: [title] }] },
  ]);
  return { title, anchor: "", blocks: [{ kind: "list", items }] };
}

function searchDataOf(contents: Contents, documents: ReadonlyMap<string, Document>): SearchData {
  return contents.flatMap(({ documents: listed }) =>
    listed.map(({ path, title }) => {
      let last = { heading: "", anchor: "", text: "" };
      const sections = [last];
      for (const block of documents.get(path)?.blocks ?? []) {
        if (block.kind === "heading") {
          last = { heading: textOf(block.children), anchor: block.anchor, text: "" };
          sections.push(last);
        } else {
          last.text = `${last.text} ${wordsOf(block)}`.replaceAll(/\s+/g, " ").trim();
        }
      }
      return { path, title, sections: sections.filter(({ heading, text }) => heading || text) };
    }),
  );
}

function wordsOf(block: Block): string {
  switch (block.kind) {
    case "heading":
    case "paragraph":
      return textOf(block.children);
    case "list":
      return block.items.flat().map(wordsOf).join(" ");
    case "table":
      return [block.head, ...block.rows].map((row) => row.map(textOf).join(" ")).join(" ");
    case "code":
      return block.text;
    case "quote":
      return block.blocks.map(wordsOf).join(" ");
    case "rule":
      return "";
  }
}

/** Returns the links of a document in order; tables column by column. */
export function linksOf(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case "heading":
      case "paragraph":
        return hrefsOf(block.children);
      case "list":
        return block.items.flatMap(linksOf);
      case "table":
        return block.head.flatMap((_, column) =>
          [block.head, ...block.rows].flatMap((row) => hrefsOf(row[column] ?? [])),
        );
      case "quote":
        return linksOf(block.blocks);
      default:
        return [];
    }
  });
}

const hrefsOf = (inlines: readonly Inline[]): readonly string[] =>
  inlines.flatMap((inline) => {
    if (typeof inline === "string" || !("children" in inline)) return [];
    return [...(inline.kind === "link" ? [inline.href] : []), ...hrefsOf(inline.children)];
  });
