/**
 * Finds the owner of a unik after any transaction of the chain: the table of tokens contains only the current owner.
 */
import { nftOf } from "@uniknode/ledger";
import { hexToBytes, sealedFromTrustedBytes, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";
import { TRANSACTION_IDS } from "./id-levels.ts";
import { prepareById } from "./stored-id.ts";

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

type Row = Position & { readonly id: string; readonly bytes: Uint8Array };
type Transfer = Position & { readonly sender: string };

export function createOwnerStore(database: Database): OwnerStore {
  const token = database.prepare<{ owner: string; mint: string }>(
    "SELECT owner, first_transaction AS mint FROM tokens WHERE id = ?",
  );
  const positionOf = prepareById<Position>(database, TRANSACTION_IDS, "height, sequence");
  // Scans the bytes of all later transfers of the type: they are few, and only disclosures need this owner.
  const transfers = database.prepare<Row>(
    `SELECT height, sequence, id_text AS id, bytes FROM transactions
     WHERE type_group = +? AND type = +? AND (height, sequence) > (?, ?) AND instr(bytes, ?) > 0
     ORDER BY height, sequence`,
  );

  /** Returns the first transfer of the token after the position, whose sender was the owner until then. */
  function nextTransfer(
    type: readonly [number, number],
    tokenId: string,
    at: Position,
  ): Transfer | undefined {
    for (const row of transfers.iterate(...type, at.height, at.sequence, hexToBytes(tokenId))) {
      const { data } = sealedFromTrustedBytes(row.bytes, row.id);
      if (nftOf(data).token.tokenId === tokenId) return { ...row, sender: data.senderPublicKey };
    }
    return undefined;
  }

  return {
    ownerAfter(tokenId, position) {
      const known = token.get(tokenId);
      if (!known) return undefined;
      const { owner, mint } = known;
      const minted = positionOf(mint);
      if (minted && isAfter(minted, position)) return undefined;
      const next = TOKEN_TRANSFERS.map((type) => nextTransfer(type, tokenId, position))
        .filter((transfer) => transfer !== undefined)
        .sort((a, b) => (isAfter(a, b) ? 1 : -1))[0];
      return next ? { publicKey: next.sender } : { address: owner };
    },
  };
}

/** Group and type of the transactions that move a token. */
export const TOKEN_TRANSFERS = [
  [TYPE_GROUPS.nft, 2],
  [TYPE_GROUPS.uns, 6],
] as const;

/** Returns true if a transaction changes the owner of a unik. */
export const movesToken = ({ typeGroup, type }: Pick<Transaction, "typeGroup" | "type">): boolean =>
  TOKEN_TRANSFERS.some((transfer) => transfer[0] === typeGroup && transfer[1] === type);

/** Returns true if a transaction is later on the chain than another one. */
export const isAfter = (a: Position, b: Position): boolean =>
  a.height > b.height || (a.height === b.height && a.sequence > b.sequence);
