/**
 * Numbers of the public keys of delegates. Rows of blocks and rounds contain the number, which takes at most 3 bytes instead of 66.
 * Reverts keep them: equal chains can have different numbers.
 */
import { bytesToHex, hexToBytes } from "@uniknode/protocol";
import { LRUCache } from "lru-cache";
import { present } from "../../platform/present.ts";
import type { Database } from "../engine/database.ts";

export type Generators = {
  /** Returns the number of a public key. A new key gets a row: it must be written inside a transaction. */
  numberOf(publicKey: string): number;
  /** @throws {Error} if no key has the number: the row with the number is damaged */
  publicKeyOf(number: number): string;
  /** Discards the cache. Must be called if a transaction that called `numberOf` fails. */
  reset(): void;
};

/** Cached keys. A network has a few hundred delegates that were ever active. */
const MAX_CACHED = 4_096;

export function createGenerators(database: Database): Generators {
  const insert = database.prepare("INSERT INTO generators (public_key) VALUES (?)");
  const find = createGeneratorNumbers(database);
  const selectKey = database.prepare<{ public_key: Uint8Array }>(
    "SELECT public_key FROM generators WHERE number = ?",
  );
  const numbers = new LRUCache<string, number>({ max: MAX_CACHED });
  const keys = new LRUCache<number, string>({ max: MAX_CACHED });

  function storedNumber(publicKey: string): number {
    const known = find(publicKey);
    if (known !== undefined) return known;
    insert.run(hexToBytes(publicKey));
    return present(find(publicKey), "the number of a public key");
  }

  return {
    numberOf(publicKey) {
      const cached = numbers.get(publicKey);
      if (cached !== undefined) return cached;
      const number = storedNumber(publicKey);
      numbers.set(publicKey, number);
      return number;
    },
    publicKeyOf(number) {
      const cached = keys.get(number);
      if (cached !== undefined) return cached;
      const { public_key } = present(selectKey.get(number), `the public key with the number ${number}`);
      const publicKey = bytesToHex(public_key);
      keys.set(number, publicKey);
      return publicKey;
    },
    reset() {
      numbers.clear();
      keys.clear();
    },
  };
}

const PUBLIC_KEY = /^([0-9a-f]{2})+$/;

/** Returns a function that finds the number of a public key; undefined if no delegate has had the key. */
export function createGeneratorNumbers(database: Database): (publicKey: string) => number | undefined {
  const select = database.prepare<{ number: number }>("SELECT number FROM generators WHERE public_key = ?");
  return (publicKey) => (PUBLIC_KEY.test(publicKey) ? select.get(hexToBytes(publicKey))?.number : undefined);
}
