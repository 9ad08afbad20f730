/** The pool of a node: its events are written in the transaction of its changes, and it fills the next block. */
import type { SealedTransaction } from "@uniknode/protocol";
import type { Chain } from "../../chain/port.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { createSubscribers, type Subscribe } from "../../platform/subscribers.ts";
import { type PoolEvent, toPublicEvent } from "../../pool/events.ts";
import { createPool, type Pool } from "../../pool/pool.ts";
import { blockLimits } from "../../pool/selection.ts";
import type { Database } from "../../store/engine/database.ts";
import { createPoolStore } from "../../store/node/pool.ts";
import type { Verifier } from "../../verification/verifier.ts";
import type { RecordedSignatures } from "../../verification/wallet-signatures.ts";
import type { Environment } from "./environment.ts";
import type { NodeEventLog } from "./event-log.ts";
import type { NodeOptions } from "./options.ts";

export type NodePool = Omit<Pool, "select" | "selectWith"> & {
  /** Transactions for the block after the head. */
  select(): SealedTransaction[];
  /** Like `select`, for a block of another branch; see `Pool.selectWith`. */
  selectWith(returned: readonly SealedTransaction[], leftOut: ReadonlySet<string>): SealedTransaction[];
  /** The listener is called after each change was logged, within the database transaction that makes it durable. */
  readonly subscribe: Subscribe<PoolEvent>;
};

export type NodePoolDeps = Pick<Environment, "network" | "now" | "logger"> &
  Pick<NodeEventLog, "events" | "log"> & {
    readonly chain: Pick<Chain, "state" | "head" | "isBusy" | "storedIds">;
    readonly verifier: Pick<Verifier, "verify">;
    readonly signatures: RecordedSignatures;
    readonly database: Database;
  };

export function createNodePool(
  options: NodeOptions["pool"],
  { chain, verifier, signatures, database, network, now, events, log, logger }: NodePoolDeps,
  onStop: Closing["add"],
): NodePool {
  const changes = createSubscribers<PoolEvent>();
  changes.subscribe((event) => {
    // Most nodes have no subscriber: transactions are copied only for one.
    if (events.isRecorded(event.name)) log(toPublicEvent(event));
  });
  const pool = createPool(options, {
    network,
    state: chain.state,
    head: chain.head,
    now,
    storedIds: (ids) => new Set(chain.storedIds(ids)),
    store: createPoolStore(database),
    verify: verifier.verify,
    signatures,
    isChainBusy: chain.isBusy,
    emit: changes.notify,
    onWriteFailed: (err) => logger.error({ err }, "failed to write changes of the pool; retrying"),
    onRecheckFailed: (err) =>
      logger.error({ err }, "failed to recheck pending transactions; retrying after the next block"),
  });
  onStop("pool", pool.close);
  const limits = () => blockLimits(network.milestoneAt(chain.head().height));
  return {
    ...pool,
    select: () => pool.select(limits()),
    selectWith: (returned, leftOut) => pool.selectWith(returned, limits(), leftOut),
    subscribe: changes.subscribe,
  };
}
