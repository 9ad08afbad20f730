/**
 * Past events, derived from the blocks and the state in the database of a mirror. The events of a block follow from its id
 * alone, so that they are read for many blocks at once and cached. Before cached events are used, the database is asked
 * whether the last block of the run is still on the chain.
 */
import { type Block, type BlockHeader, createRounds, type Network } from "@uniknode/protocol";
import type { FinalBlock } from "../../events/block-events.ts";
import type { Event } from "../../events/catalogue.ts";
import type { Postgres, Query } from "../../postgres/connection.ts";
import { PostgresError, toPostgresError } from "../../postgres/postgres-error.ts";
import { Finality, ROUNDS } from "../finality.ts";
import { type History, HistoryError } from "../history.ts";
import { createFactEvents, type PastFact } from "../past-facts.ts";
import {
  type BlockBounds,
  type BlockOrigin,
  readFacts,
  readHeaders,
  readStoredBlocks,
  readUsernames,
} from "./facts.ts";

type BlockFacts = {
  readonly header: BlockHeader;
  readonly facts: readonly (PastFact | FinalBlock)[];
};

/**
 * The facts of consecutive blocks of one branch, ascending. They follow from the id of the last one: an id depends on the whole
 * chain below it.
 */
export type Run = {
  readonly blocks: readonly BlockFacts[];
  /** Usernames of the delegates by public key. */
  readonly usernames: ReadonlyMap<string, string>;
};

/** Time limit of each statement. */
const READ_TIMEOUT_MS = 5_000;
/** Bounds of a run. */
const BOUNDS: BlockBounds = { maxBlocks: 100, maxTransactions: 500 };
/** Maximum number of cached facts: runs for several replays at a time. */
const MAX_FACTS = 5_000;

export class PostgresHistory implements History {
  readonly #postgres: Pick<Postgres, "query" | "reads">;
  readonly #network: Network;
  readonly #runs = new Runs(MAX_FACTS);
  /** A run that was on the chain in this turn of the event loop: until it ends, this process learns of no later state. */
  #current: Run | undefined;

  constructor(postgres: Pick<Postgres, "query" | "reads">, network: Network) {
    this.#postgres = postgres;
    this.#network = network;
  }

  async head(): Promise<number> {
    return readHead(this.#query).catch(rethrow);
  }

  async eventsAt(height: number): Promise<Event[]> {
    return this.#eventsAt(height).catch(rethrow);
  }

  readonly #query: Query = (sql, values) =>
    this.#postgres.query<never>(sql, values).catch((error) => {
      throw toPostgresError(error);
    });

  async #eventsAt(height: number): Promise<Event[]> {
    const run = (await this.#knownRunAt(height)) ?? (await this.#readRunAt(height));
    const block = run && blockOf(run, height);
    if (!block) return [];
    const toEvents = createFactEvents(this.#network, (publicKey) => run.usernames.get(publicKey));
    return block.facts.flatMap((fact) => toEvents(fact, block.header));
  }

  /** Returns a cached run with the height that is on the chain. */
  async #knownRunAt(height: number): Promise<Run | undefined> {
    for (;;) {
      const run = this.#runs.at(height);
      if (!run || run === this.#current) return run;
      if (await isOnChain(this.#query, run)) {
        this.#setCurrent(run);
        return run;
      }
      this.#runs.remove(run);
    }
  }

  /** Reads a block, and others in the direction in which the calls proceed; undefined if the chain has no such block. */
  async #readRunAt(height: number): Promise<Run | undefined> {
    const origin = this.#runs.at(height + 1) ? "last" : "first";
    const run = await this.#postgres.reads({ timeoutMs: READ_TIMEOUT_MS }, (query) =>
      readRun(query, height, origin, this.#network),
    );
    if (!run) return undefined;
    this.#runs.add(run);
    this.#setCurrent(run);
    return run;
  }

  #setCurrent(run: Run): void {
    this.#current = run;
    setImmediate(() => {
      if (this.#current === run) this.#current = undefined;
    });
  }
}

async function readHead(query: Query): Promise<number> {
  const [head] = await query<{ height: string }>("SELECT height FROM head WHERE phase = 'ready'");
  if (!head) throw building();
  return Number(head.height);
}

async function isOnChain(query: Query, { blocks }: Run): Promise<boolean> {
  const last = blocks.at(-1)?.header;
  const [row] = await query<{ id: string | null }>(
    "SELECT (SELECT id FROM blocks WHERE height = $1) AS id FROM head WHERE phase = 'ready'",
    [last?.height ?? 0],
  );
  if (!row) throw building();
  return row.id === last?.id;
}

/** @param query reads one commit */
async function readRun(
  query: Query,
  height: number,
  origin: BlockOrigin,
  network: Network,
): Promise<Run | undefined> {
  const head = await readHead(query);
  if (height < 1 || height > head) return undefined;
  const range = origin === "first" ? { first: height, last: head } : { first: 1, last: height };
  const stored = await readStoredBlocks(query, range, BOUNDS, origin);
  const facts = await readFacts(query, stored, network);
  const finality = await readFinality(query, stored, network);
  const blocks = stored.map(
    ({ header }, index): BlockFacts => ({
      header,
      facts: [...(facts[index] ?? []), ...finality.follow(header)],
    }),
  );
  return { blocks, usernames: await readUsernames(query, facts.flat().flatMap(delegatesOf)) };
}

/** Returns the finality after the blocks below the first one of consecutive blocks. */
async function readFinality(query: Query, [first]: readonly Block[], network: Network): Promise<Finality> {
  const last = (first?.header.height ?? 1) - 1;
  const { maxDelegates } = createRounds(network).roundAt(last + 1);
  const headers = await readHeaders(query, { first: Math.max(1, last - ROUNDS * maxDelegates + 1), last });
  const byHeight = new Map(headers.map((header) => [header.height, header]));
  return new Finality(network, (height) => byHeight.get(height));
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

export const blockOf = ({ blocks }: Run, height: number): BlockFacts | undefined =>
  blocks[height - (blocks[0]?.header.height ?? 0)];

/** Cached runs. */
export class Runs {
  readonly #maxFacts: number;
  /** The last one was added first. */
  #runs: Run[] = [];

  /** @param maxFacts runs that were added earlier are removed above this number of facts */
  constructor(maxFacts: number) {
    this.#maxFacts = maxFacts;
  }

  /** Returns the latest run with a height. */
  at(height: number): Run | undefined {
    return this.#runs.find((run) => blockOf(run, height));
  }

  add(run: Run): void {
    let count = 0;
    this.#runs = [run, ...this.#runs].filter(({ blocks }) => {
      count += blocks.reduce((sum, { facts }) => sum + facts.length, 0);
      return count <= this.#maxFacts;
    });
  }

  remove(run: Run): void {
    this.#runs = this.#runs.filter((other) => other !== run);
  }
}
