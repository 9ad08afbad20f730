/** Reads blocks of a mirror, and derives their facts from its rows. */
import type { Round } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  createRounds,
  headerFromTrustedBytes,
  type Network,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import type { Query } from "../../postgres/connection.ts";
import {
  type FactLookups,
  IS_TRANSFER,
  type Owner,
  type OwnerStore,
  type Position,
} from "../../store/chain/fact-lookups.ts";
import { type RoundJson, roundFromJson } from "../../store/state/json.ts";
import { HistoryError } from "../history.ts";
import { type PastFact, PastFacts } from "../past-facts.ts";

type BlockRow = { height: string; id: string; header: Uint8Array };
type TransactionRow = { height: string; id: string; bytes: Uint8Array };

/** Bounds of one read, so that other work of the process is not delayed. */
export type BlockBounds = {
  readonly maxBlocks: number;
  /** A block with more transactions is read alone. */
  readonly maxTransactions: number;
};

/** Heights of the first and the last block. */
export type BlockRange = { readonly first: number; readonly last: number };

/** The end of a range from which the bounds are counted. */
export type BlockOrigin = "first" | "last";

/**
 * Returns the blocks of a range within the bounds, at least the one at the origin.
 *
 * @throws {HistoryError} HISTORY_DAMAGED if a block is missing, or its bytes cannot be decoded
 */
export async function readStoredBlocks(
  query: Query,
  range: BlockRange,
  { maxBlocks, maxTransactions }: BlockBounds,
  origin: BlockOrigin = "first",
): Promise<Block[]> {
  const isFromFirst = origin === "first";
  const first = isFromFirst ? range.first : Math.max(range.first, range.last - maxBlocks + 1);
  const last = isFromFirst ? Math.min(range.last, range.first + maxBlocks - 1) : range.last;
  const headers = await readHeaders(query, { first, last });
  let transactions = 0;
  const kept = (isFromFirst ? headers : headers.toReversed()).filter(({ numberOfTransactions }, index) => {
    transactions += numberOfTransactions;
    return index === 0 || transactions <= maxTransactions;
  });
  return readTransactions(query, isFromFirst ? kept : kept.reverse());
}

/**
 * Returns the headers of a range.
 *
 * @throws {HistoryError} HISTORY_DAMAGED
 */
export async function readHeaders(query: Query, { first, last }: BlockRange): Promise<BlockHeader[]> {
  const rows = await query<BlockRow>(
    "SELECT height, id, header FROM blocks WHERE height BETWEEN $1 AND $2 ORDER BY height",
    [first, last],
  );
  return Array.from({ length: last - first + 1 }, (_, index) =>
    decoded(first + index, () => {
      const row = rows[index];
      if (!row || Number(row.height) !== first + index) throw new Error("it is missing");
      return headerFromTrustedBytes(row.header, row.id);
    }),
  );
}

/** @param headers of consecutive blocks */
async function readTransactions(query: Query, headers: readonly BlockHeader[]): Promise<Block[]> {
  const stored = await query<TransactionRow>(
    "SELECT height, id, bytes FROM transactions WHERE height BETWEEN $1 AND $2 ORDER BY height, sequence",
    [headers[0]?.height ?? 0, headers.at(-1)?.height ?? 0],
  );
  const byHeight = Map.groupBy(stored, ({ height }) => Number(height));
  return headers.map((header) => ({
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

const damaged = (height: number, why: string, cause?: unknown): HistoryError =>
  new HistoryError(
    "HISTORY_DAMAGED",
    `cannot read block ${height} in the database of the mirror: ${why}; start the mirror with an empty database`,
    cause,
  );

/** Returns the facts of consecutive blocks of the mirror; `query` must read one commit, which has these blocks. */
export async function readFacts(
  query: Query,
  blocks: readonly Block[],
  network: Network,
): Promise<PastFact[][]> {
  const heights = blocks.map(({ header }) => header.height);
  const range = { first: Math.min(...heights), last: Math.max(...heights) };
  const lookups = await readLookups(query, range, network);
  const questions: OwnerQuestion[] = [];
  const facts = factsOf(blocks, { ...lookups, ownerAfter: note(questions) }, network);
  // Only disclosures need owners; they are rare.
  if (questions.length === 0) return facts;
  return factsOf(blocks, { ...lookups, ...(await readOwners(query, questions)) }, network);
}

/** Records the questions, which show the owners that must be read. */
const note =
  (questions: OwnerQuestion[]): FactLookups["ownerAfter"] =>
  (tokenId, position) => {
    questions.push({ tokenId, position });
    return undefined;
  };

function factsOf(blocks: readonly Block[], lookups: FactLookups, network: Network): PastFact[][] {
  const pastFacts = new PastFacts(lookups, network);
  let previous: Block["header"] | undefined;
  return blocks.map((block) => {
    const facts = pastFacts.of(block, { previous });
    previous = block.header;
    return facts;
  });
}

type HeaderRow = { height: string; id: string; header: Uint8Array };

/**
 * Reads all values from which the facts of consecutive blocks are derived, except owners of tokens. The derivation is
 * synchronous, and cannot read them itself.
 */
async function readLookups(
  query: Query,
  { first, last }: BlockRange,
  network: Network,
): Promise<Omit<FactLookups, "ownerAfter">> {
  const calendar = createRounds(network);
  const { round, roundHeight } = calendar.roundAt(first);
  const [previous, generators, rounds] = await Promise.all([
    query<HeaderRow>("SELECT height, id, header FROM blocks WHERE height = $1", [first - 1]),
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

/** A token, and the transaction after which its owner is needed. */
type OwnerQuestion = { readonly tokenId: string; readonly position: Position };

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

/**
 * Reads the owners of uniks after transactions, as `store/chain/fact-lookups.ts` does for a node, for a list of questions, which
 * can then be asked synchronously.
 */
async function readOwners(query: Query, questions: readonly OwnerQuestion[]): Promise<OwnerStore> {
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

/** Reads the usernames of delegates by public key. A username never changes. */
export async function readUsernames(
  query: Query,
  publicKeys: readonly string[],
): Promise<Map<string, string>> {
  if (publicKeys.length === 0) return new Map();
  const rows = await query<{ public_key: string; username: string }>(
    "SELECT public_key, username FROM wallets WHERE public_key = ANY ($1) AND username IS NOT NULL",
    [[...new Set(publicKeys)]],
  );
  return new Map(rows.map(({ public_key, username }) => [public_key, username]));
}
