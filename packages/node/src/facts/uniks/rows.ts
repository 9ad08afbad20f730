/** Rows of the maps of uniks (facts.md 10): owners, pages, and long properties, by keys with one character for each byte. */
import { canonicalJson } from "@uniknode/protocol";
import { present } from "../../platform/present.ts";
import {
  changeLeaves,
  type LeafChange,
  leafOf,
  type PageReader,
  type Pages,
  rootOf,
  textDigest,
} from "./map.ts";
import { type Digest, decodePage, encodePage, type Leaf, type Page } from "./page.ts";

/** Bytes, or a page that is not encoded yet: further changes of the round would decode it again. */
export type Row = Uint8Array | Page;

export type Rows = {
  read(key: string): Row | undefined;
  /** Removes the row if the value is undefined. */
  change(key: string, value: Row | undefined): void;
};

export type RowReader = Pick<Rows, "read">;

/** A property as its leaf or its row has it. */
export type Property = { readonly key: string; readonly value: string };

/** Bytes of a property that its leaf contains; a longer one has a row, so that pages are small. */
const MAX_LEAF_BYTES = 64;

const idOf = (unik: string): string => Buffer.from(unik, "hex").toString("latin1");

/** Row with the address of the owner; a unik that was disclosed but not minted has none. */
export const ownerKey = (unik: string): string => `o${idOf(unik)}`;

/** Row of a long property, by the digest of its name. */
export const propertyKey = (unik: string, name: Digest): string => `p${idOf(unik)}${name}`;

/** Begin of the keys of pages: of the map of uniks, and of the properties of a unik. */
export const MAP_PAGES = "m";
export const pagesKey = (unik: string): string => `s${idOf(unik)}`;

export const readPagesOf = (rows: RowReader, prefix: string): PageReader => ({
  read(path) {
    const row = rows.read(prefix + path);
    return row instanceof Uint8Array ? decodePage(row) : row;
  },
});

export const pagesOf = (rows: Rows, prefix: string): Pages => ({
  ...readPagesOf(rows, prefix),
  write: (path, page) => rows.change(prefix + path, page),
});

export function readOwner(rows: RowReader, unik: string): string | undefined {
  const row = rows.read(ownerKey(unik));
  return row && bytesOf(row).toString();
}

export function readProperty(rows: RowReader, unik: string, name: string): string | undefined {
  const leaf = leafOf(readPagesOf(rows, pagesKey(unik)), textDigest(name));
  return leaf && propertyFromText(propertyText(rows, unik, leaf)).value;
}

/** Returns the bytes of the property of a leaf, with one character for each. */
export function propertyText(rows: RowReader, unik: string, { key, text }: Leaf): string {
  if (text !== "") return text;
  return bytesOf(present(rows.read(propertyKey(unik, key)), "a long property")).toString("latin1");
}

export function propertyFromText(text: string): Property {
  const [key, value] = JSON.parse(Buffer.from(text, "latin1").toString()) as [string, string];
  return { key, value };
}

/** Changes properties of a unik, `null` for removed ones; returns the root of all. */
export function changeProperties(
  rows: Rows,
  unik: string,
  properties: ReadonlyMap<string, string | null>,
): string {
  const long: [key: string, row: Uint8Array][] = [];
  const changes = [...properties].map(([name, value]): LeafChange => {
    const key = textDigest(name);
    if (value === null) return { key, value: undefined };
    const bytes = Buffer.from(JSON.stringify([name, value]));
    const isLong = bytes.length > MAX_LEAF_BYTES;
    if (isLong) long.push([propertyKey(unik, key), bytes]);
    return { key, value: textDigest(value), text: isLong ? "" : bytes.toString("latin1") };
  });
  const pages = pagesOf(rows, pagesKey(unik));
  const onRemoved = ({ key, text }: Leaf) => text === "" && rows.change(propertyKey(unik, key), undefined);
  const root = changes.length === 0 ? rootOf(pages) : changeLeaves({ ...pages, onRemoved }, changes);
  for (const [key, row] of long) rows.change(key, row);
  return root;
}

/** Returns the digest of the canonical value of a unik, from its owner and the root of its properties. */
export const unikDigest = (owner: string, properties: string): Digest =>
  textDigest(canonicalJson({ owner, properties }));

export function bytesOf(row: Row): Buffer {
  const bytes = row instanceof Uint8Array ? row : encodePage(row);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
