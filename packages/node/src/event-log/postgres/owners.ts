/** Finds the owners of uniks after transactions of the chain, as `store/chain/token-owners.ts` does for a node. */
import type { Query } from "../../postgres/connection.ts";
import { IS_TRANSFER, type Owner, type OwnerStore, type Position } from "../../store/chain/token-owners.ts";

/** A token, and the transaction after which its owner is needed. */
export type OwnerQuestion = { readonly tokenId: string; readonly position: Position };

type OwnerRow = { token: string; height: string; sequence: number; owner: string; sender: string | null };

/** Questions about uniks that existed. The expression of the token is that of the index `transactions_token`. */
const OWNERS = `
  SELECT asked.token, asked.height, asked.sequence, owner, transfer.sender
  FROM unnest($1::text[], $2::bigint[], $3::integer[]) AS asked (token, height, sequence)
  JOIN tokens ON tokens.id = asked.token
  LEFT JOIN transactions AS mint ON mint.id = first_transaction
  LEFT JOIN LATERAL (
    SELECT sender FROM transactions
    WHERE ${IS_TRANSFER} AND substr(asset, strpos(asset, '"tokenId":"') + 11, 64) COLLATE "C" = asked.token
      AND (height, sequence) > (asked.height, asked.sequence)
    ORDER BY height, sequence LIMIT 1
  ) AS transfer ON true
  WHERE mint.id IS NULL OR (mint.height, mint.sequence) <= (asked.height, asked.sequence)`;

/** Reads the owners for a list of questions, which can then be asked synchronously. */
export async function readOwners(query: Query, questions: readonly OwnerQuestion[]): Promise<OwnerStore> {
  const rows = await query<OwnerRow>(OWNERS, [
    questions.map(({ tokenId }) => tokenId),
    questions.map(({ position }) => position.height),
    questions.map(({ position }) => position.sequence),
  ]);
  const owners = new Map(
    rows.map(({ token, height, sequence, owner, sender }): [string, Owner] => [
      nameOf(token, { height: Number(height), sequence }),
      sender === null ? { address: owner } : { publicKey: sender },
    ]),
  );
  return { ownerAfter: (tokenId, position) => owners.get(nameOf(tokenId, position)) };
}

const nameOf = (tokenId: string, { height, sequence }: Position): string =>
  `${tokenId} ${height} ${sequence}`;
