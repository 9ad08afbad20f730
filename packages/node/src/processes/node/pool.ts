/** The pool of a node, whose events are written in the transaction of its changes. */
import type { Chain } from "../../chain/chain.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { createSubscribers, type Subscribe } from "../../platform/notifier.ts";
import { type PoolEvent, toPublicEvent } from "../../pool/events.ts";
import { Pool } from "../../pool/pool.ts";
import type { Database } from "../../store/engine/database.ts";
import { createPoolStore } from "../../store/node/pool.ts";
import type { Verifier } from "../../verification/verifier.ts";
import type { RecordedSignatures } from "../../verification/wallet-signatures.ts";
import type { NodeEventLog } from "./event-log.ts";
import type { Environment, NodeOptions } from "./node-options.ts";

export type NodePool = {
  readonly pool: Pool;
  /** The listener is called after each change was logged, within the database transaction that makes it durable. */
  readonly subscribeToPool: Subscribe<PoolEvent>;
};

type NodePoolDeps = Pick<Environment, "network" | "now" | "logger"> &
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
  const pool = new Pool(options, {
    network,
    state: chain.state,
    head: chain.head,
    now,
    storedIds: (ids) => new Set(chain.storedIds(ids)),
    store: createPoolStore(database),
    verify: (checks) => verifier.verify(checks),
    signatures,
    isChainBusy: () => chain.isBusy(),
    emit: changes.notify,
    onWriteFailed: (err) => logger.error({ err }, "failed to write changes of the pool; retrying"),
    onRecheckFailed: (err) =>
      logger.error({ err }, "failed to recheck pending transactions; retrying after the next block"),
  });
  onStop("pool", () => pool.close());
  return { pool, subscribeToPool: changes.subscribe };
}
