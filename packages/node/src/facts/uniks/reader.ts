/** Reads uniks and their properties, with their paths, as they were after the last complete round. */
import type { Database } from "../../store/engine/database.ts";
import { createRowReaders } from "./changes.ts";
import { keyOf, leafOf, leavesFrom, type Path, pathTo, rootOf, textDigest, toHex } from "./map.ts";
import type { Digest } from "./page.ts";
import {
  MAP_PAGES,
  type Property,
  pagesKey,
  propertyFromText,
  propertyText,
  type RowReader,
  readOwner,
  readPagesOf,
} from "./rows.ts";
import { type MapRoot, MapRoots, type RootPlace, StoredMapState } from "./state.ts";

/**
 * The properties below one node of the map: all whose key begins with the first bits of `from`, one bit for each sibling. The siblings
 * lead from the node to the root, which proves that none is missing.
 */
export type PropertyPage = {
  /** Hexadecimal. */
  readonly from: string;
  /** Nodes beside the path, from the root down; null: empty. */
  readonly siblings: readonly (string | null)[];
  readonly properties: readonly Property[];
};

export type ReadUnik = {
  /** Undefined if the unik did not exist. */
  readonly unik: { readonly owner: string; readonly properties: string } | undefined;
  readonly path: Path;
  readonly pages: readonly PropertyPage[];
};

/** Properties and bytes of a response. */
const MAX_PROPERTIES = 500;
const MAX_BYTES = 262_144;

/** The first properties, and two that a client needs of every unik. */
export const FIRST = "0".repeat(64);
export const DEFAULT_FROM: readonly string[] = [
  FIRST,
  ...["type", "LifeCycle/Status"].map((name) => toHex(textDigest(name))),
];

export class UnikReader {
  readonly #state: StoredMapState;
  readonly #roots: MapRoots;
  readonly #readersAt: (height: number) => RowReader;

  constructor(database: Database) {
    this.#state = new StoredMapState(database);
    this.#roots = new MapRoots(database);
    this.#readersAt = createRowReaders(database);
  }

  /** The last complete round, and the place of its root; undefined if there is no place. */
  state(): { readonly height: number; readonly place: RootPlace } | undefined {
    const { height, place } = this.#state.read();
    return place && { height, place };
  }

  rootAt(height: number): MapRoot {
    return this.#roots.at(height);
  }

  /**
   * Reads a unik, and the properties from some digests on.
   *
   * @param from hexadecimal; the properties of 0 begin with the first one, the digest of a name has this property alone
   */
  read(unik: string, from: readonly string[]): ReadUnik {
    const rows = this.#readersAt(this.#state.read().height);
    const path = pathTo(readPagesOf(rows, MAP_PAGES), keyOf(unik));
    const owner = readOwner(rows, unik);
    if (owner === undefined) return { unik: undefined, path, pages: [] };
    const pages: PropertyPage[] = [];
    let left = MAX_PROPERTIES;
    for (const digest of from) {
      if (pages.some((page) => hasDigest(page, digest))) continue;
      const page = readPage(rows, unik, digest, Math.max(left, 1));
      left -= page.properties.length;
      pages.push(page);
    }
    return { unik: { owner, properties: rootOf(readPagesOf(rows, pagesKey(unik))) }, path, pages };
  }
}

/** Returns true if a page has the property with this digest, if there is one. */
const hasDigest = ({ from, siblings }: PropertyPage, digest: string): boolean =>
  commonBits(from, digest) >= siblings.length;

/** Reads the largest page that begins with a digest and does not exceed the bounds. */
function readPage(rows: RowReader, unik: string, from: string, limit: number): PropertyPage {
  const pages = readPagesOf(rows, pagesKey(unik));
  const { siblings, end } = pathTo(pages, fromHex(from));
  const first = firstBitsOf(from);
  if (first < siblings.length) {
    const { properties, excluded } = readProperties(rows, unik, from, limit);
    const bits = Math.max(first, excluded === undefined ? 0 : commonBits(from, excluded) + 1);
    // Otherwise, the subtree has at most one leaf, which can be below `from`.
    if (bits < siblings.length) {
      const ofPage = properties.filter(({ digest }) => commonBits(from, digest) >= bits);
      return {
        from,
        siblings: siblings.slice(0, bits),
        properties: ofPage.map(({ property }) => property),
      };
    }
  }
  const leaf = end && leafOf(pages, fromHex(end.key));
  return { from, siblings, properties: leaf ? [propertyFromText(propertyText(rows, unik, leaf))] : [] };
}

type Found = { readonly digest: string; readonly property: Property };

/** Reads properties from a digest on, and the digest of the first one that exceeds the bounds. */
function readProperties(
  rows: RowReader,
  unik: string,
  from: string,
  limit: number,
): { properties: Found[]; excluded: string | undefined } {
  const properties: Found[] = [];
  let bytes = 0;
  for (const leaf of leavesFrom(readPagesOf(rows, pagesKey(unik)), fromHex(from))) {
    const digest = toHex(leaf.key);
    if (properties.length === limit) return { properties, excluded: digest };
    const text = propertyText(rows, unik, leaf);
    bytes += text.length;
    if (properties.length > 0 && bytes > MAX_BYTES) return { properties, excluded: digest };
    properties.push({ digest, property: propertyFromText(text) });
  }
  return { properties, excluded: undefined };
}

const fromHex = (hex: string): Digest => Buffer.from(hex, "hex").toString("latin1");

const DIGITS = 64;

/** Returns the number of bits up to the last one that is set: subtrees that begin with these bits begin with the digest. */
function firstBitsOf(hex: string): number {
  const digit = hex.search(/[1-9a-f]0*$/);
  if (digit < 0) return 0;
  const value = Number.parseInt(hex.charAt(digit), 16);
  return 4 * digit + 4 - Math.log2(value & -value);
}

/** Returns the number of first bits that are equal. */
function commonBits(a: string, b: string): number {
  let digit = 0;
  while (digit < DIGITS && a.charCodeAt(digit) === b.charCodeAt(digit)) digit++;
  if (digit === DIGITS) return 4 * DIGITS;
  const differing = Number.parseInt(a.charAt(digit), 16) ^ Number.parseInt(b.charAt(digit), 16);
  return 4 * digit + 3 - Math.floor(Math.log2(differing));
}
