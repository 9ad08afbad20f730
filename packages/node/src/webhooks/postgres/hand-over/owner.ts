/**
 * The owner of the webhooks, as the database of the workers stores it, and the names of events that the log of the node
 * records for the workers.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Gateway } from "../../../gateway/gateway.ts";
import { present } from "../../../platform/present.ts";
import type { Postgres, Query, Transaction } from "../../../postgres/connection.ts";
import { FailureLog } from "../../collaborators.ts";
import {
  nextOwner,
  type Owner,
  type OwnerChange,
  OwnerError,
  type OwnerState,
} from "../../hand-over/owner.ts";
import { refusalOf } from "../../hand-over/service-switch.ts";
import { runSteps } from "../../storage/sql.ts";
import { readEventNames } from "../../storage/webhooks.ts";
import { readsOf } from "../sql.ts";

type OwnerRow = { owner: OwnerState; transfer: string | null };

export const readOwner = (query: Query): Promise<Owner> => select(query, "");

/**
 * Changes the owner. Waits for all transactions that have locked it, and blocks them until the end of this one.
 *
 * @throws {OwnerError} if the change does not continue from the current state
 */
export async function changeOwner({ query, change }: Transaction, next: OwnerChange): Promise<Owner> {
  const current = await select(query, "FOR UPDATE");
  const owner = nextOwner(current, next);
  if (owner !== current)
    await change("UPDATE webhook_register SET owner = $1, transfer = $2, version = version + 1", [
      owner.state,
      owner.transfer ?? null,
    ]);
  return owner;
}

/**
 * Checks that a change was not made yet, by this command or another one.
 *
 * @param lock `FOR UPDATE`: the state stays until the end of the transaction
 * @throws {OwnerError} if the change does not continue from the current state
 */
export async function requireOwner(
  query: Query,
  next: OwnerChange,
  lock: "" | "FOR UPDATE" = "",
): Promise<void> {
  const owner = await select(query, lock);
  if (owner.state !== next.from || owner.transfer !== next.transfer) throw new OwnerError(owner, next);
}

/** Returns the owner, which stays until the end of the transaction. Does not conflict with changes of the version. */
export const lockOwner = ({ query }: Transaction): Promise<Owner> => select(query, "FOR KEY SHARE");

async function select(query: Query, lock: "" | "FOR UPDATE" | "FOR KEY SHARE"): Promise<Owner> {
  const [row] = await query<OwnerRow>(`SELECT owner, transfer FROM webhook_register ${lock}`);
  const { owner: state, transfer } = present(row, "the row of the register");
  return { state, transfer: transfer ?? undefined };
}

type RemoteNamesDeps = {
  readonly postgres: Postgres;
  /** Gateway of the node that the mirror follows. */
  readonly gateway: Pick<Gateway, "replaceRemoteNames">;
};

type RepetitionDeps = {
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Ends the repetition. */
  readonly signal: AbortSignal;
};

export type RepetitionTimes = {
  /** Pause after a success, and while the workers do not own the webhooks. */
  readonly everyMs: number;
  /** Pause after a failure. */
  readonly retryMs: number;
};

const REPETITION_TIMES: RepetitionTimes = { everyMs: 60_000, retryMs: 5_000 };

/** The names of events that the log of the node records for the workers. */
export class RemoteNames {
  readonly #deps: RemoteNamesDeps;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<number> | undefined;

  constructor(deps: RemoteNamesDeps) {
    this.#deps = deps;
  }

  /**
   * Replaces the names by those of the register, and returns the sequence after which the log has all events of these names. Calls of
   * all processes are made one after the other: an earlier call would otherwise overwrite the names of a later one. Calls in this
   * process share the next one.
   *
   * @throws {WebhookError} unless the workers own the webhooks
   */
  replace(): Promise<number> {
    this.#next ??= this.#running.then(() => {
      const replacing = this.#replace();
      this.#running = replacing.catch(() => {});
      this.#next = undefined;
      return replacing;
    });
    return this.#next;
  }

  /**
   * Replaces the names now and regularly, while the workers own the webhooks: the node may have lost them with its database, a mirror
   * may follow another node, and the register may be an older copy. Never rejects.
   */
  async repeat({ logger, signal }: RepetitionDeps, times: RepetitionTimes = REPETITION_TIMES): Promise<void> {
    const log = new FailureLog(
      logger,
      "failed to send the node the names of the events that webhooks need; the node may not record these events",
      "the node has the names of the events that webhooks need",
    );
    while (!signal.aborted) {
      let pauseMs = times.everyMs;
      try {
        // During a hand-over, a lock of the owner would wait for its end.
        const { state } = await readOwner(this.#deps.postgres.query);
        if (state === "workers") await this.replace();
        log.noteSuccess();
      } catch (error) {
        if (signal.aborted) return;
        log.noteFailure(error);
        pauseMs = times.retryMs;
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  #replace(): Promise<number> {
    const { postgres, gateway } = this.#deps;
    return postgres.transaction("READ WRITE", async (transaction) => {
      const owner = await lockOwner(transaction);
      // After a hand-over, the names of this database must not be recorded any longer.
      if (owner.state !== "workers") throw refusalOf(owner);
      // Until the end of the transaction. A node executes no call after its deadline, for which this one waits.
      await transaction.query("SELECT pg_advisory_xact_lock(hashtext('names of webhooks'))");
      const names = await runSteps(readEventNames(readsOf(transaction)));
      const { lastSequence } = await gateway.replaceRemoteNames([...names]);
      return lastSequence;
    });
  }
}
