/** Reads blocks of the mirror, and the rows from which their facts are derived. */
import { createRounds, type Round } from "@uniknode/ledger";
import { type Block, headerFromTrustedBytes, type Network, sealedFromTrustedBytes } from "@uniknode/protocol";
import type { Query } from "../../postgres/connection.ts";
import type { FactLookups } from "../../store/chain/fact-lookups.ts";
import { type RoundJson, roundFromJson } from "../../store/state/json.ts";
import { MirrorError } from "../error.ts";

/** Bounds of one step, so that other work of the process is not delayed; a block with more transactions is not split. */
const MAX_BLOCKS = 500;
const MAX_TRANSACTIONS = 5_000;

type BlockRow = { height: string; id: string; header: Uint8Array };
type TransactionRow = { height: string; id: string; bytes: Uint8Array };

/**
 * Returns at least one block from the first height on, up to the last height or the bounds of a step.
 *
 * @throws {MirrorError} MIRROR_DIFFERS if a block is missing, or its bytes cannot be decoded
 */
export async function readStoredBlocks(query: Query, first: number, last: number): Promise<Block[]> {
  const rows = await query<BlockRow>(
    `SELECT height, id, header FROM blocks WHERE height BETWEEN $1 AND $2 ORDER BY height LIMIT ${MAX_BLOCKS}`,
    [first, last],
  );
  const headers = rows.map((row, index) =>
    decoded(first + index, () => {
      if (Number(row.height) !== first + index) throw new Error("it is missing");
      return headerFromTrustedBytes(row.header, row.id);
    }),
  );
  if (headers.length === 0) throw damaged(first, "it is missing");
  let transactions = 0;
  const kept = headers.filter(({ numberOfTransactions }, index) => {
    transactions += numberOfTransactions;
    return index === 0 || transactions <= MAX_TRANSACTIONS;
  });
  const stored = await query<TransactionRow>(
    "SELECT height, id, bytes FROM transactions WHERE height BETWEEN $1 AND $2 ORDER BY height, sequence",
    [first, first + kept.length - 1],
  );
  const byHeight = Map.groupBy(stored, ({ height }) => Number(height));
  return kept.map((header) => ({
    header,
    transactions: decoded(header.height, () =>
      (byHeight.get(header.height) ?? []).map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id)),
    ),
  }));
}

function decoded<T>(height: number, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw damaged(height, (cause as Error).message, cause);
  }
}

const damaged = (height: number, why: string, cause?: unknown): MirrorError =>
  new MirrorError(
    "MIRROR_DIFFERS",
    `cannot read block ${height} in the database of the mirror: ${why}; start the mirror with an empty database`,
    { cause },
  );

/**
 * Reads all values from which the facts of consecutive blocks are derived, except owners of tokens. The derivation is
 * synchronous, and cannot read them itself.
 *
 * @param first height of the first block
 * @param last height of the last block
 */
export async function readLookups(
  query: Query,
  { first, last }: { readonly first: number; readonly last: number },
  network: Network,
): Promise<Omit<FactLookups, "ownerAfter">> {
  const calendar = createRounds(network);
  const { round, roundHeight } = calendar.roundAt(first);
  const [previous, generators, rounds] = await Promise.all([
    query<BlockRow>("SELECT height, id, header FROM blocks WHERE height = $1", [first - 1]),
    query<{ height: string; generator: string }>(
      "SELECT height, generator FROM blocks WHERE height BETWEEN $1 AND $2",
      [roundHeight, last],
    ),
    query<{ record: string }>("SELECT record FROM rounds WHERE round BETWEEN $1 AND $2", [
      round,
      calendar.roundAt(last + 1).round,
    ]),
  ]);
  const headers = new Map(
    previous.map(({ height, id, header }) => [Number(height), headerFromTrustedBytes(header, id)]),
  );
  const byRound = new Map(
    rounds
      .map(({ record }): Round => roundFromJson(JSON.parse(record) as RoundJson))
      .map((known) => [known.round, known]),
  );
  return {
    header: (height) => headers.get(height),
    round: (number) => byRound.get(number),
    generators: (from, to) =>
      new Set(
        generators
          .filter(({ height }) => Number(height) >= from && Number(height) <= to)
          .map(({ generator }) => generator),
      ),
  };
}
