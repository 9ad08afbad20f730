/**
 * Past events, derived from the blocks and the state in the database of a mirror. The facts of a block follow from its id
 * alone: they are read for many blocks at once, and cached. Each call reads anew whether the block is on the chain, and the
 * usernames, with one statement.
 */
import type { Network } from "@uniknode/protocol";
import type { Event } from "../../events/event.ts";
import type { Postgres, Query } from "../../postgres/connection.ts";
import { PostgresError, toPostgresError } from "../../postgres/error.ts";
import { createFactEvents } from "../fact-events.ts";
import { type History, HistoryError } from "../history.ts";
import type { PastFact } from "../past-facts.ts";
import { readFacts } from "./facts.ts";
import { type BlockFacts, createKnownFacts } from "./known-facts.ts";
import { type BlockBounds, readStoredBlocks } from "./stored-blocks.ts";

/** Time limit of each statement. */
const READ_TIMEOUT_MS = 5_000;
/** Bounds of one read ahead. */
const AHEAD: BlockBounds = { maxBlocks: 50, maxTransactions: 500 };
/** Maximum number of cached facts: ranges for several replays at a time. */
const MAX_FACTS = 5_000;

export function createPostgresHistory(postgres: Postgres, network: Network): History {
  const known = createKnownFacts(MAX_FACTS);
  const query: Query = (sql, values) =>
    postgres.query<never>(sql, values).catch((error) => {
      throw toPostgresError(error);
    });

  /** Reads the block at a height, and others in the direction in which the calls proceed. */
  async function readAhead(height: number): Promise<BlockFacts | undefined> {
    const isDescending = known.at(height + 1) !== undefined;
    const blocks = await postgres.reads({ timeoutMs: READ_TIMEOUT_MS }, (query) =>
      readBlocks(query, { height, isDescending }, network),
    );
    known.add(blocks);
    return blocks.find(({ header }) => header.height === height);
  }

  async function eventsAt(height: number): Promise<Event[]> {
    for (;;) {
      const block = known.at(height) ?? (await readAhead(height));
      if (!block) return [];
      const { header, facts } = block;
      const present = await readPresent(query, height, facts);
      if (present.id === header.id) {
        const toEvents = createFactEvents(network, (publicKey) => present.usernames[publicKey]);
        return facts.flatMap((fact) => toEvents(fact, header));
      }
      // It was reverted after it was read.
      known.remove(height);
    }
  }

  return {
    head: () => readHead(query).catch(rethrow),
    eventsAt: (height) => eventsAt(height).catch(rethrow),
  };
}

async function readHead(query: Query): Promise<number> {
  const [head] = await query<{ height: string }>("SELECT height FROM head WHERE phase = 'ready'");
  if (!head) throw building();
  return Number(head.height);
}

type Wanted = { readonly height: number; readonly isDescending: boolean };

/** @param query reads one commit */
async function readBlocks(
  query: Query,
  { height, isDescending }: Wanted,
  network: Network,
): Promise<BlockFacts[]> {
  const head = await readHead(query);
  if (height < 1 || height > head) return [];
  const range = isDescending
    ? { first: Math.max(1, height - AHEAD.maxBlocks + 1), last: height }
    : { first: height, last: head };
  let blocks = await readStoredBlocks(query, range, AHEAD);
  if (blocks.at(-1)?.header.height !== height && isDescending) {
    // The blocks below it have too many transactions.
    blocks = await readStoredBlocks(query, { first: height, last: height }, AHEAD);
  }
  const facts = await readFacts(query, blocks, network);
  return blocks.map(({ header }, index) => ({ header, facts: facts[index] ?? [] }));
}

type Present = {
  /** Id of the block at the height; null above the head. */
  readonly id: string | null;
  readonly usernames: Readonly<Record<string, string>>;
};

/** Reads what can change while the facts of a block are cached, from one commit. */
async function readPresent(query: Query, height: number, facts: readonly PastFact[]): Promise<Present> {
  const [row] = await query<{ id: string | null; usernames: Present["usernames"] | null }>(
    `SELECT (SELECT id FROM blocks WHERE height = $1) AS id,
       (SELECT json_object_agg(public_key, username) FROM wallets
        WHERE public_key = ANY ($2) AND username IS NOT NULL) AS usernames
     FROM head WHERE phase = 'ready'`,
    [height, facts.flatMap(delegatesOf)],
  );
  if (!row) throw building();
  return { id: row.id, usernames: row.usernames ?? {} };
}

/** Returns the public keys of the delegates whose usernames the events of a fact contain. */
function delegatesOf(fact: PastFact): readonly string[] {
  switch (fact.name) {
    case "forger.missing":
    case "round.missed":
      return [fact.publicKey];
    case "round.created":
      return fact.delegates.map(({ publicKey }) => publicKey);
    default:
      return [];
  }
}

const building = (): HistoryError =>
  new HistoryError(
    "HISTORY_BUILDING",
    "the mirror is being built: there are no past events until it is ready",
  );

/** @throws {HistoryError} for failures of the database; other errors as they are */
function rethrow(error: unknown): never {
  if (!(error instanceof PostgresError)) throw error;
  throw new HistoryError("HISTORY_UNREADABLE", `cannot read past events: ${error.message}`, error);
}
