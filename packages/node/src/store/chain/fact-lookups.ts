/** Reads the data, in addition to the block, from which past facts are derived (`event-log/past-facts.ts`). */
import type { Round } from "@uniknode/ledger";
import { type BlockHeader, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";
import { RoundStore } from "../state/packed-round.ts";
import { BlockStore } from "./blocks.ts";
import { prepareById, TRANSACTION_IDS } from "./id-levels.ts";

/** Reads of one state, for blocks on its chain. */
export type FactLookups = OwnerStore & {
  header(height: number): BlockHeader | undefined;
  round(number: number): Round | undefined;
  /** Returns the public keys that forged blocks from one height to another, both included. */
  generators(from: number, to: number): ReadonlySet<string>;
};

export function createFactLookups(database: Database): FactLookups {
  const blocks = new BlockStore(database);
  const rounds = new RoundStore(database);
  const generators = database.prepare<{ generator: string }>(
    `SELECT lower(hex(public_key)) AS generator FROM generators
     WHERE number IN (SELECT generator FROM blocks WHERE height BETWEEN ? AND ?)`,
  );
  return {
    ...createOwnerStore(database),
    header: (height) => blocks.header(height),
    round: (number) => rounds.read(number),
    generators: (from, to) => new Set(generators.all(from, to).map(({ generator }) => generator)),
  };
}

/** A transaction on the chain: height, and index in its block. */
export type Position = { readonly height: number; readonly sequence: number };

export type OwnerStore = {
  /**
   * Returns the public key of the owner right after a transaction, if the chain contains it; otherwise the
   * address. Undefined if the unik did not exist yet.
   */
  ownerAfter(tokenId: string, position: Position): Owner | undefined;
};

export type Owner = { readonly publicKey: string } | { readonly address: string };

/** Group and type of the transactions that move a token. */
const TOKEN_TRANSFERS = [
  [TYPE_GROUPS.nft, 2],
  [TYPE_GROUPS.uns, 6],
] as const;

/** SQL that is true for the transactions that move a token: the condition of the index `transactions_token`. */
export const IS_TRANSFER = `(${TOKEN_TRANSFERS.map(
  ([group, type]) => `type_group = ${group} AND type = ${type}`,
).join(" OR ")})`;

export function createOwnerStore(database: Database): OwnerStore {
  const token = database.prepare<{ owner: string; mint: string }>(
    "SELECT owner, first_transaction AS mint FROM tokens WHERE id = ?",
  );
  const positionOf = prepareById<Position>(database, TRANSACTION_IDS, "height, sequence");
  // The sender of the next transfer was the owner until then. The expression is that of the index.
  const nextSender = database.prepare<{ publicKey: string }>(
    `SELECT lower(hex(public_key)) AS publicKey
     FROM transactions INDEXED BY transactions_token CROSS JOIN senders ON number = sender
     WHERE ${IS_TRANSFER} AND substr(asset, instr(asset, '"tokenId":"') + 11, 64) = +?
     AND (height, sequence) > (+?, +?) ORDER BY height, sequence LIMIT 1`,
  );
  return {
    ownerAfter(tokenId, position) {
      const known = token.get(tokenId);
      if (!known) return undefined;
      const minted = positionOf(known.mint);
      if (minted && isAfter(minted, position)) return undefined;
      return nextSender.get(tokenId, position.height, position.sequence) ?? { address: known.owner };
    },
  };
}

/** Returns true if a transaction changes the owner of a unik. */
export const movesToken = ({ typeGroup, type }: Pick<Transaction, "typeGroup" | "type">): boolean =>
  TOKEN_TRANSFERS.some((transfer) => transfer[0] === typeGroup && transfer[1] === type);

/** Returns true if a transaction is later on the chain than another one. */
const isAfter = (a: Position, b: Position): boolean =>
  a.height > b.height || (a.height === b.height && a.sequence > b.sequence);
