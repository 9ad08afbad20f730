/** The parts of a node that need no other node: data folder, event log, chain, tree of facts and pool. */
import type { Comparison } from "../../facts/comparison/comparison.ts";
import { type FactsTask, startFactsTask } from "../../facts/task.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { type Consensus, createConsensus } from "./consensus.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import { type NodeEventLog, openNodeEventLog } from "./event-log.ts";
import { compareFacts } from "./facts-comparison.ts";
import type { NodeDeps, NodeOptions } from "./options.ts";
import { createNodePool, type NodePool } from "./pool.ts";

export type NodeCore = NodePool & {
  /** Dependencies of most parts of the node. */
  readonly shared: Environment & NodeEventLog & Pick<DataFolder, "database">;
  readonly folder: DataFolder;
  readonly consensus: Consensus;
  readonly facts: FactsTask;
  /** Absent for a node that does not compare its tree. */
  readonly comparison: Comparison | undefined;
};

export async function openCore(
  options: NodeOptions,
  deps: NodeDeps,
  onStop: Closing["add"],
): Promise<NodeCore> {
  const environment = createEnvironment(deps);
  const { network, logger } = environment;
  const { claimFolder = () => {} } = deps;
  const folder = openDataFolder(options, { network, logger, claimFolder }, onStop);
  const { database, databasePath } = folder;
  const eventLog = openNodeEventLog(options, { database, logger }, onStop);
  const shared = { ...environment, ...eventLog, database };
  const consensus = createConsensus(options, { ...shared, genesis: deps.genesis }, onStop);
  const facts = startFactsTask({ database, network, isDevChain: deps.createDev !== undefined, logger });
  onStop("tree of facts", facts.close);
  const comparison =
    options.compareWith.length > 0
      ? await compareFacts(options.compareWith, { ...shared, databasePath }, onStop)
      : undefined;
  const { pool, subscribeToPool } = createNodePool(options.pool, { ...shared, ...consensus }, onStop);
  return { shared, folder, consensus, facts, comparison, pool, subscribeToPool };
}
