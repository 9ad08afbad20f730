/** The pipeline of a node over a generated chain, without the rest of the node. */

import { createSlots, type Slots } from "@uniknode/protocol";
import { pino } from "pino";
import type { Pin } from "../packages/node/src/chain/assumption.ts";
import { Chain, type ChainDeps, DEFAULT_CHAIN_OPTIONS } from "../packages/node/src/chain/chain.ts";
import { eventsOfFacts, eventsOfRevert } from "../packages/node/src/events/block-events.ts";
import { FactsTask } from "../packages/node/src/facts/task.ts";
import {
  DEFAULT_CHECKPOINT_OPTIONS,
  startCheckpoints,
} from "../packages/node/src/store/engine/checkpoints.ts";
import { openDatabase } from "../packages/node/src/store/engine/database.ts";
import { migrate } from "../packages/node/src/store/engine/migrations.ts";
import { EventLog } from "../packages/node/src/store/events/event-log.ts";
import { BatchVerifier, type Verifier } from "../packages/node/src/verification/verifier.ts";
import type { Fixture } from "./fixture.ts";

export type PipelineOptions = {
  /** Number of verifier threads. */
  readonly threads: number;
  /** Extends the tree of facts together with the chain, as a node does. */
  readonly facts?: boolean;
  /** Records earlier states. */
  readonly history?: boolean;
  /** Copies the write-ahead log into the file in a separate thread, as a node does. */
  readonly checkpointThread?: boolean;
  /** Number of last blocks whose changes are stored for mirrors. */
  readonly feedBlocks?: number;
  /** Block up to which signatures are not verified. */
  readonly assumeValid?: Pin | undefined;
  /** Replaces the event log without readers. */
  readonly events?: Pick<ChainDeps, "eventsOfFacts" | "eventsOfRevert">;
};

export type Pipeline = {
  readonly chain: Chain;
  /** Database file, which remains after the chain is closed. */
  readonly verifier: Verifier;
  /** The tree of facts, if there is one; valid until the chain is closed. */
  readonly figures: FactsTask["figures"] | undefined;
  /** Closes the chain and its database. */
  close(): Promise<void>;
};

const toEvents = (slots: Slots): Pick<ChainDeps, "eventsOfFacts" | "eventsOfRevert"> => ({
  eventsOfFacts: (facts, header) => eventsOfFacts(facts, header, slots),
  eventsOfRevert: (block, wallets) => eventsOfRevert(block, wallets, slots),
});

/** Opens a new database file with the genesis block. */
export function openPipeline(
  path: string,
  fixture: Pick<Fixture, "network" | "genesis">,
  options: PipelineOptions,
): Pipeline {
  const {
    threads,
    assumeValid,
    feedBlocks = 0,
    history = false,
    checkpointThread = false,
    events = toEvents(createSlots(fixture.network)),
  } = options;
  const database = openDatabase(path, { makesCheckpoints: !checkpointThread });
  migrate(database);
  const endCheckpoints = checkpointThread
    ? startCheckpoints(DEFAULT_CHECKPOINT_OPTIONS, { database, databasePath: path, onError })
    : undefined;
  const verifier = new BatchVerifier({ threads });
  const chain = new Chain(
    { ...DEFAULT_CHAIN_OPTIONS, feedBlocks, recordsHistory: history },
    {
      database,
      network: fixture.network,
      genesis: fixture.genesis,
      verifier,
      events: new EventLog(database, { recordedNames: () => new Set() }),
      ...events,
      now: Date.now,
      assumeValid,
      onListenerError: onError,
    },
  );
  const facts = options.facts
    ? new FactsTask({
        database,
        network: fixture.network,
        isDevChain: false,
        logger: pino({ level: "error" }),
      })
    : undefined;
  if (facts) chain.subscribe((change) => facts.chainChanged(change));
  return {
    chain,
    verifier,
    figures: facts && (() => facts.figures()),
    async close() {
      facts?.close();
      await chain.close();
      await endCheckpoints?.();
      database.close();
    },
  };
}

function onError(error: unknown): void {
  throw error;
}
