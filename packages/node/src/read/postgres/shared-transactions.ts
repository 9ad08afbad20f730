/**
 * Transactions that several snapshots share: a snapshot that begins before the transaction has read its head joins it.
 * Beginning and ending a transaction costs the client more than a simple read. Statements of one transaction run one
 * after the other, so that a slow read delays the others by up to the time limit of a statement: each transaction has at most one
 * statement of a list that exceeds the limit, and none that is in the negative cache of timeouts.
 */
import { LRUCache } from "lru-cache";
import { PostgresError } from "../../postgres/postgres-error.ts";
import { isOfList, type ReadQuery } from "../../postgres/reads.ts";

/** Runs `work` in a transaction, which lasts until the work settles. */
type RunTransaction<Opened> = <T>(work: (opened: Opened) => Promise<T>) => Promise<T>;

type Group<Opened> = { readonly opened: Promise<Opened>; members: number; readonly end: () => void };

export class SharedTransactions<Opened> {
  readonly #max: number;
  readonly #run: RunTransaction<Opened>;
  #joinable: Group<Opened> | undefined;

  /**
   * @param max maximum number of snapshots that share a transaction
   * @param run runs a transaction
   */
  constructor(max: number, run: RunTransaction<Opened>) {
    this.#max = max;
    this.#run = run;
  }

  /** Runs `work` in a transaction, which lasts until all works that share it have settled. */
  async run<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    const joinable = this.#joinable;
    const group = joinable && joinable.members < this.#max ? joinable : this.#open();
    group.members++;
    try {
      return await work(await group.opened);
    } finally {
      group.members--;
      if (group.members === 0) group.end();
    }
  }

  #open(): Group<Opened> {
    const opened = Promise.withResolvers<Opened>();
    const ended = Promise.withResolvers<void>();
    const group: Group<Opened> = { opened: opened.promise, members: 0, end: ended.resolve };
    const close = () => {
      if (this.#joinable === group) this.#joinable = undefined;
    };
    this.#joinable = group;
    this.#run((transaction) => {
      close();
      opened.resolve(transaction);
      return ended.promise;
    }).catch((error: unknown) => {
      close();
      opened.reject(error);
    });
    return group;
  }
}

/**
 * Maximum number of cached statements that exceeded the limit, the time for which they are cached, and their maximum
 * length with their values.
 */
const MAX_SLOW = 1_000;
const SLOW_MS = 10_000;
const MAX_NAME_LENGTH = 4_000;

/** Negative cache of statements that exceeded the time limit of a shared transaction. */
export class QuickReads<Value> {
  readonly #slow = new LRUCache<string, true>({ max: MAX_SLOW, ttl: SLOW_MS });

  /**
   * Limits the reads of one transaction; refused reads fail with POSTGRES_TIMEOUT, like statements that exceed the
   * time limit.
   */
  limited(query: ReadQuery<Value>): ReadQuery<Value> {
    let hasExceeded = false;
    return async (statement, values = []) => {
      const isList = isOfList(statement);
      const text = typeof statement === "string" ? statement : statement.name;
      const name = `${text} ${JSON.stringify(values)}`;
      const isSlow = this.#slow.size > 0 && this.#slow.has(name);
      if (isSlow || (isList && hasExceeded)) throw new PostgresError("POSTGRES_TIMEOUT");
      try {
        return await query(statement, values);
      } catch (error) {
        if (error instanceof PostgresError && error.code === "POSTGRES_TIMEOUT") {
          hasExceeded = true;
          // Without an error of the server, another statement used up the time.
          if (error.cause !== undefined && name.length <= MAX_NAME_LENGTH) this.#slow.set(name, true);
        }
        throw error;
      }
    };
  }
}
