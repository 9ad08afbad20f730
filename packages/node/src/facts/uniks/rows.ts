/** Rows of the maps of uniks (facts.md 10): owners, properties, and pages, by keys with one character for each byte. */
import { canonicalJson } from "@uniknode/protocol";
import { type Digest, decodePage, encodePage, type PageReader, type Pages, textDigest } from "./map.ts";

export type Rows = {
  read(key: string): Uint8Array | undefined;
  /** Removes the row if the value is undefined. */
  change(key: string, value: Uint8Array | undefined): void;
};

export type RowReader = Pick<Rows, "read">;

/** A property as its row has it. */
export type Property = { readonly key: string; readonly value: string };

const bytesOf = (unik: string): string => Buffer.from(unik, "hex").toString("latin1");

/** Row with the address of the owner; a unik that was disclosed but not minted has none. */
export const ownerKey = (unik: string): string => `o${bytesOf(unik)}`;

/** Row of a property: those of a unik are adjacent, in the order of the digests of their names. */
export const propertyKey = (unik: string, name: Digest): string => `p${bytesOf(unik)}${name}`;

/** Begin of the keys of pages: of the map of uniks, and of the properties of a unik. */
export const MAP_PAGES = "m";
export const pagesKey = (unik: string): string => `s${bytesOf(unik)}`;

export const readPagesOf = (rows: RowReader, prefix: string): PageReader => ({
  read(path) {
    const row = rows.read(prefix + path);
    return row && decodePage(row);
  },
});

export const pagesOf = (rows: Rows, prefix: string): Pages => ({
  ...readPagesOf(rows, prefix),
  write: (path, page) => rows.change(prefix + path, page && encodePage(page)),
});

export function readOwner(rows: RowReader, unik: string): string | undefined {
  const row = rows.read(ownerKey(unik));
  return row && textOf(row);
}

export function readProperty(rows: RowReader, unik: string, name: string): string | undefined {
  const row = rows.read(propertyKey(unik, textDigest(name)));
  return row && propertyFromRow(row).value;
}

export const propertyRow = ({ key, value }: Property): Uint8Array =>
  Buffer.from(JSON.stringify([key, value]));

export function propertyFromRow(row: Uint8Array): Property {
  const [key, value] = JSON.parse(textOf(row)) as [string, string];
  return { key, value };
}

/** Returns the digest of the canonical value of a unik, from its owner and the root of its properties. */
export const unikDigest = (owner: string, properties: string): Digest =>
  textDigest(canonicalJson({ owner, properties }));

const textOf = (row: Uint8Array): string =>
  Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString();
