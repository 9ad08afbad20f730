/** Connects the parts of a node: subscribes each to the events of others, in a fixed order. */
import type { Chain } from "../../chain/chain.ts";
import type { FactsTask } from "../../facts/task.ts";
import type { Forging } from "../../forger/forging.ts";
import type { Pool } from "../../pool/pool.ts";
import type { NodeEventLog } from "./event-log.ts";
import type { NodePeers } from "./peers.ts";
import type { NodePool } from "./pool.ts";

export type ConnectedParts = {
  readonly chain: Pick<Chain, "subscribe">;
  readonly pool: Pick<Pool, "blocksReverted" | "blockApplied">;
  readonly subscribeToPool: NodePool["subscribeToPool"];
  /** Absent for a node without peers. */
  readonly subscribeToHeaders: NodePeers["subscribeToHeaders"] | undefined;
  readonly forging: Pick<Forging, "blockApplied" | "blockArrived"> & {
    readonly forger: Pick<Forging["forger"], "demand">;
  };
  readonly grown: Pick<NodeEventLog["grown"], "notify">;
  readonly facts: Pick<FactsTask, "chainChanged">;
};

export function connectParts({
  chain,
  pool,
  subscribeToPool,
  subscribeToHeaders,
  forging,
  grown,
  facts,
}: ConnectedParts): void {
  chain.subscribe(({ applied, revertedBlocks, returned }) => {
    if (revertedBlocks > 0) pool.blocksReverted(returned);
    for (const { block, changes } of applied) {
      const addresses = changes.flatMap(({ table, key }) => (table === "wallets" ? [key] : []));
      pool.blockApplied(block.transactions, new Set(addresses));
      forging.blockApplied(block.header);
    }
    grown.notify();
  });
  chain.subscribe(facts.chainChanged);
  subscribeToPool(({ name }) => {
    if (name === "transaction.pool.added") forging.forger.demand();
  });
  subscribeToHeaders?.(forging.blockArrived);
}
