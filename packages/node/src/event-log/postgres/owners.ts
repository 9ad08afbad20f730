/** Finds the owners of uniks after transactions of the chain, as `store/chain/token-owners.ts` does for a node. */
import { nftOf } from "@uniknode/ledger";
import { hexToBytes, sealedFromTrustedBytes } from "@uniknode/protocol";
import type { Query } from "../../postgres/connection.ts";
import {
  isAfter,
  type Owner,
  type OwnerStore,
  type Position,
  TOKEN_TRANSFERS,
} from "../../store/chain/token-owners.ts";

/** A token, and the transaction after which its owner is needed. */
export type OwnerQuestion = { readonly tokenId: string; readonly position: Position };

/** Reads the owners for a list of questions, which can then be asked synchronously. */
export async function readOwners(query: Query, questions: readonly OwnerQuestion[]): Promise<OwnerStore> {
  const owners = new Map<string, Owner | undefined>();
  for (const { tokenId, position } of questions) {
    owners.set(nameOf(tokenId, position), await readOwner(query, tokenId, position));
  }
  return { ownerAfter: (tokenId, position) => owners.get(nameOf(tokenId, position)) };
}

const nameOf = (tokenId: string, { height, sequence }: Position): string =>
  `${tokenId} ${height} ${sequence}`;

async function readOwner(query: Query, tokenId: string, position: Position): Promise<Owner | undefined> {
  const [token] = await query<{ owner: string; height: string | null; sequence: number | null }>(
    `SELECT owner, height, sequence FROM tokens LEFT JOIN transactions ON transactions.id = first_transaction
     WHERE tokens.id = $1`,
    [tokenId],
  );
  if (!token) return undefined;
  const { owner, height, sequence } = token;
  if (height !== null && isAfter({ height: Number(height), sequence: sequence ?? 0 }, position)) {
    return undefined;
  }
  const sender = await nextSender(query, tokenId, position);
  return sender === undefined ? { address: owner } : { publicKey: sender };
}

type Transfer = { height: string; sequence: number; id: string; sender: string; bytes: Uint8Array };

/**
 * Maximum number of transfers per statement. Transfers of other tokens can match, too: the bytes of the id can occur in
 * them.
 */
const PAGE = 100;

/** Returns the sender of the first transfer of a token after a position, who was the owner until then. */
async function nextSender(query: Query, tokenId: string, position: Position): Promise<string | undefined> {
  let after = position;
  for (;;) {
    const rows = await query<Transfer>(
      `SELECT height, sequence, id, sender, bytes FROM transactions
       WHERE (type_group, type) IN (${TOKEN_TRANSFERS.map((type) => `(${type.join(", ")})`).join(", ")})
       AND (height, sequence) > ($1, $2) AND position($3::bytea IN bytes) > 0
       ORDER BY height, sequence LIMIT ${PAGE}`,
      [after.height, after.sequence, hexToBytes(tokenId)],
    );
    const next = rows.find(
      ({ id, bytes }) => nftOf(sealedFromTrustedBytes(bytes, id).data).token.tokenId === tokenId,
    );
    const last = rows.at(-1);
    if (next || !last || rows.length < PAGE) return next?.sender;
    after = { height: Number(last.height), sequence: last.sequence };
  }
}
