/** Documents as the build writes them: what stands where, and nothing of how it looks. */

export type Inline =
  | string
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly children: readonly Inline[] }
  | {
      readonly kind: "link";
      /** `#anchor`, an address below `/console/docs`, or one of another host. */
      readonly href: string;
      readonly children: readonly Inline[];
    }
  | { readonly kind: "break" };

export type Cell = readonly Inline[];

export type Heading = {
  readonly kind: "heading";
  /** From 1 on. */
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
      /** From 1 on, in its document. */
      readonly number: number;
      readonly head: readonly Cell[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | { readonly kind: "code"; readonly number: number; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "rule" };

export type Document = {
  readonly title: string;
  /** Of the title: the top of the page. */
  readonly anchor: string;
  /** Without the title. */
  readonly blocks: readonly Block[];
};

/** All documents in reading order. */
export type Contents = readonly {
  readonly title: string;
  readonly documents: readonly {
    /** Behind `/console/docs/`; empty for the first page. */
    readonly path: string;
    readonly title: string;
  }[];
}[];

/** What the search reads: the words of every section. */
export type SearchData = readonly {
  readonly path: string;
  readonly title: string;
  readonly sections: readonly {
    /** Empty for what stands before the first heading. */
    readonly heading: string;
    readonly anchor: string;
    readonly text: string;
  }[];
}[];

/** Below `/console/`, where the node serves what the build wrote. */
export const CONTENTS_FILE = "documents/contents.json";
export const SEARCH_FILE = "documents/search.json";
export const documentFile = (path: string): string => `documents/pages/${path || "start"}.json`;

/** The words of inline content. */
export const textOf = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (typeof inline === "string") return inline;
      if (inline.kind === "code") return inline.text;
      return inline.kind === "break" ? " " : textOf(inline.children);
    })
    .join("");
