/** Parses a Markdown document into a tree. HTML tags become text, HTML comments are removed. */
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { type Block, type Cell, type Inline, textOf } from "../src/screens/docs/tree.ts";

/** @returns the address in the console; undefined if the console has no such page: the text stays without a link */
export type Resolve = (href: string) => string | undefined;

/** State that the parts of one document share. */
type Context = {
  readonly resolve: Resolve;
  /** Anchors of the headings so far. */
  readonly anchors: Set<string>;
  /** Number of listings and tables so far. */
  readonly numbers: { code: number; table: number };
};

/** @throws {Error} on markup that the console does not show */
export const parse = (markdown: string, resolve: Resolve): readonly Block[] =>
  blocksOf({ resolve, anchors: new Set(), numbers: { code: 0, table: 0 } }, lexer(markdown));

const blocksOf = (context: Context, tokens: readonly Token[]): Block[] =>
  (tokens as MarkedToken[]).flatMap((token) => blockOf(context, token));

function blockOf(context: Context, token: MarkedToken): Block | readonly Block[] {
  const { anchors, numbers } = context;
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading": {
      const children = inlinesOf(context, token.tokens);
      return { kind: "heading", level: token.depth, anchor: anchorOf(textOf(children), anchors), children };
    }
    case "paragraph":
      return { kind: "paragraph", children: inlinesOf(context, token.tokens) };
    // A line of a list without empty lines.
    case "text":
      return { kind: "paragraph", children: inlinesOf(context, token.tokens ?? [token]) };
    case "html": {
      const text = withoutComments(token.text);
      return text === "" ? [] : { kind: "paragraph", children: [text] };
    }
    case "list":
      return {
        kind: "list",
        ...(token.ordered && { start: Number(token.start) }),
        items: token.items.map(({ tokens }: Tokens.ListItem) => blocksOf(context, tokens)),
      };
    case "table":
      return tableOf(context, token as Tokens.Table);
    case "code":
      return { kind: "code", number: ++numbers.code, text: token.text };
    case "blockquote":
      return { kind: "quote", blocks: blocksOf(context, token.tokens) };
    case "hr":
      return { kind: "rule" };
    default:
      throw unknown(token);
  }
}

function tableOf(context: Context, { header, rows }: Tokens.Table): Block {
  const cellOf = ({ tokens }: Tokens.TableCell): Cell => inlinesOf(context, tokens);
  const number = ++context.numbers.table;
  return { kind: "table", number, head: header.map(cellOf), rows: rows.map((row) => row.map(cellOf)) };
}

/** Neighbouring texts are one. */
function inlinesOf(context: Context, tokens: readonly Token[]): Inline[] {
  const inlines: Inline[] = [];
  for (const inline of (tokens as MarkedToken[]).flatMap((token) => inlineOf(context, token))) {
    const last = inlines.at(-1);
    if (typeof last === "string" && typeof inline === "string") inlines.splice(-1, 1, last + inline);
    else if (inline !== "") inlines.push(inline);
  }
  return inlines;
}

function inlineOf(context: Context, token: MarkedToken): Inline | readonly Inline[] {
  switch (token.type) {
    case "text":
      return token.tokens ? inlinesOf(context, token.tokens) : decoded(token.text).replaceAll("\n", " ");
    case "escape":
      return token.text;
    case "codespan":
      return { kind: "code", text: token.text };
    case "strong":
      return { kind: "strong", children: inlinesOf(context, token.tokens) };
    case "em":
      return { kind: "emphasis", children: inlinesOf(context, token.tokens) };
    case "del":
      return { kind: "deleted", children: inlinesOf(context, token.tokens) };
    case "br":
      return { kind: "break" };
    case "html":
      return withoutComments(token.text);
    // Only the alternative text: the pictures show this console.
    case "image":
      return token.text;
    case "link": {
      const href = context.resolve(token.href);
      const children = inlinesOf(context, token.tokens);
      return href === undefined ? children : { kind: "link", href, children };
    }
    default:
      throw unknown(token);
  }
}

const unknown = ({ type, raw }: MarkedToken): Error =>
  new Error(`the console shows no ${type}: ${raw.slice(0, 80)}`);

const withoutComments = (html: string): string => html.replaceAll(/<!--.*?-->/gs, "").trim();

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&nbsp;": "\u00a0",
};

const decoded = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|nbsp);/g, (name) => ENTITIES[name] ?? name);

/** Returns an anchor that is unique in the document, in the form of common repository hosts, so that links work there too. */
function anchorOf(text: string, taken: Set<string>): string {
  const plain = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
    .replaceAll(" ", "-");
  let anchor = plain;
  for (let count = 1; taken.has(anchor); count++) anchor = `${plain}-${count}`;
  taken.add(anchor);
  return anchor;
}
