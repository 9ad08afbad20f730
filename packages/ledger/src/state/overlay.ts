/** Reads records that are written in memory over committed ones. */
import { propertyKey, type Wallet } from "./tables.ts";

/** Written records by key; undefined if the record is removed. */
export type WrittenRecords<T> = ReadonlyMap<string, T | undefined>;

/** Yields the committed addresses that were not written, and the written ones whose wallet satisfies the test. */
export function* walletsOver(
  committed: Iterable<string>,
  written: WrittenRecords<Wallet>,
  test: (wallet: Wallet) => boolean,
): Iterable<string> {
  for (const address of committed) if (!written.has(address)) yield address;
  for (const [address, wallet] of written) if (wallet && test(wallet)) yield address;
}

/** Yields the committed properties of a token that were not written, and the written ones. */
export function* propertiesOver(
  tokenId: string,
  committed: Iterable<readonly [key: string, value: string]>,
  written: WrittenRecords<string>,
): Iterable<readonly [key: string, value: string]> {
  for (const entry of committed) if (!written.has(propertyKey(tokenId, entry[0]))) yield entry;
  const prefix = propertyKey(tokenId, "");
  for (const [key, value] of written) {
    if (value !== undefined && key.startsWith(prefix)) yield [key.slice(prefix.length), value];
  }
}
