/** Syntax tree of documents that the build writes, without presentation. */

export type Inline =
  | string
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly children: readonly Inline[] }
  | {
      readonly kind: "link";
      /** `#anchor`, a path below `/console/docs`, or an external URL. */
      readonly href: string;
      readonly children: readonly Inline[];
    }
  | { readonly kind: "break" };

export type Cell = readonly Inline[];

export type Heading = {
  readonly kind: "heading";
  /** Heading level from 1. */
  readonly level: number;
  readonly anchor: string;
  readonly children: readonly Inline[];
};

export type Block =
  | Heading
  | { readonly kind: "paragraph"; readonly children: readonly Inline[] }
  | { readonly kind: "list"; readonly start?: number; readonly items: readonly (readonly Block[])[] }
  | {
      readonly kind: "table";
      /** Number in its document, from 1. */
      readonly number: number;
      readonly head: readonly Cell[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | { readonly kind: "code"; readonly number: number; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "rule" };

export type Document = {
  readonly title: string;
  /** Anchor of the title, which means the top of the page. */
  readonly anchor: string;
  /** Sections, without the title. */
  readonly blocks: readonly Block[];
};

/** List of all documents in reading order. */
export type Contents = readonly {
  readonly title: string;
  readonly documents: readonly {
    /** Path after `/console/docs/`; empty for the first page. */
    readonly path: string;
    readonly title: string;
  }[];
}[];

/** Search index: the text of every section. */
export type SearchData = readonly {
  readonly path: string;
  readonly title: string;
  readonly sections: readonly {
    /** Title of the section; empty before the first heading. */
    readonly heading: string;
    readonly anchor: string;
    readonly text: string;
  }[];
}[];

/** Path below `/console/`, where the node serves the build output. */
export const CONTENTS_FILE = "documents/contents.json";
export const SEARCH_FILE = "documents/search.json";
export const documentFile = (path: string): string => `documents/pages/${path || "start"}.json`;

/** Returns the plain text of inline content. */
export const textOf = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (typeof inline === "string") return inline;
      if (inline.kind === "code") return inline.text;
      return inline.kind === "break" ? " " : textOf(inline.children);
    })
    .join("");
