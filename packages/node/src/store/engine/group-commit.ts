/**
 * Combines changes that arrive within a short time into one transaction, so that they wait for the disk
 * together.
 */
import { present } from "../../platform/present.ts";
import type { Database } from "./database.ts";

/** Time that the first change of a group waits for others. */
const GATHER_MS = 2;

/**
 * Maximum number of changes in one transaction, which occupies the thread. Further changes follow after other
 * work of the event loop.
 */
const MAX_GROUP = 32;

type Member = {
  /** Makes the change; the returned function reports its success. */
  readonly change: () => () => void;
  readonly reject: (error: unknown) => void;
};

export class GroupCommit {
  readonly #database: Pick<Database, "group">;
  readonly #waiting: Member[] = [];

  constructor(database: Pick<Database, "group">) {
    this.#database = database;
  }

  /**
   * Settles with the result or the error of the change after the transaction is on disk. Changes run in the
   * order of the calls.
   */
  run<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setTimeout(() => this.#commit(), GATHER_MS);
      this.#waiting.push({
        change: () => {
          const result = change();
          return () => resolve(result);
        },
        reject,
      });
    });
  }

  #commit(): void {
    const group = this.#waiting.splice(0, MAX_GROUP);
    if (this.#waiting.length > 0) setImmediate(() => this.#commit());
    try {
      const results = this.#database.group(group.map(({ change }) => change));
      for (const [index, result] of results.entries()) {
        if (result.status === "fulfilled") result.value();
        else present(group[index], "the change of a result").reject(result.reason);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
