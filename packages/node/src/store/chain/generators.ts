/**
 * Public keys of generators as small integers: numbered in the order of their first blocks, so that equal chains have
 * equal rows.
 */
import { hexToBytes } from "@uniknode/protocol";
import { present } from "../../platform/present.ts";
import type { Database } from "../engine/database.ts";

export type Generators = {
  /** Returns the number of a public key; a new key is written. Must be called in the transaction of its block. */
  numberOf(publicKey: string): number;
  /** Removes the keys whose blocks were all reverted. They have the highest numbers. */
  removeUnused(): void;
  /** Discards cached numbers, which a rolled back transaction may have written. */
  forget(): void;
};

type NumberRow = { readonly number: number };

export function createGenerators(database: Database): Generators {
  const find = createGeneratorNumbers(database);
  const insert = database.prepare<NumberRow>(
    "INSERT INTO generators (public_key) VALUES (?) RETURNING number",
  );
  const removeUnused = database.prepare(
    "DELETE FROM generators WHERE NOT EXISTS (SELECT 1 FROM blocks WHERE generator = number)",
  );
  const numbers = new Map<string, number>();

  function read(publicKey: string): number {
    const number =
      find(publicKey) ?? present(insert.get(hexToBytes(publicKey)), "the row of a new generator").number;
    numbers.set(publicKey, number);
    return number;
  }

  return {
    numberOf: (publicKey) => numbers.get(publicKey) ?? read(publicKey),
    removeUnused: () => void removeUnused.run(),
    forget: () => numbers.clear(),
  };
}

const PUBLIC_KEY = /^([0-9a-f]{2})+$/;

/** Returns a function that finds the number of a public key; undefined if it generated no block. */
export function createGeneratorNumbers(database: Database): (publicKey: string) => number | undefined {
  const select = database.prepare<NumberRow>("SELECT number FROM generators WHERE public_key = ?");
  return (publicKey) => (PUBLIC_KEY.test(publicKey) ? select.get(hexToBytes(publicKey))?.number : undefined);
}
