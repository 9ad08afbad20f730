/** The pipeline of a node over a generated chain, without the rest of the node. */

import { pino } from "pino";
import type { Pin } from "../packages/node/src/chain/assumption.ts";
import {
  type Chain,
  type ChainDeps,
  createChain,
  DEFAULT_CHAIN_OPTIONS,
} from "../packages/node/src/chain/chain.ts";
import { eventsOfFacts, eventsOfRevert } from "../packages/node/src/events/block-events.ts";
import { type FactsTask, startFactsTask } from "../packages/node/src/facts/task.ts";
import { openDatabase } from "../packages/node/src/store/engine/database.ts";
import { migrate } from "../packages/node/src/store/engine/migrations.ts";
import { createEventLog } from "../packages/node/src/store/events/event-log.ts";
import { createVerifier, type Verifier } from "../packages/node/src/verification/verifier.ts";
import type { Fixture } from "./fixture.ts";

export type PipelineOptions = {
  /** That verify signatures. */
  readonly threads: number;
  readonly accelerator?: string | undefined;
  /** Grows the tree of facts beside the chain, as a node does. */
  readonly facts?: boolean;
  /** Signatures are not verified up to it. */
  readonly assumeValid?: Pin | undefined;
  /** Instead of an event log that has no readers. */
  readonly events?: Pick<ChainDeps, "eventsOfFacts" | "eventsOfRevert">;
};

export type Pipeline = {
  readonly chain: Chain;
  /** Stays when the chain is closed. */
  readonly verifier: Verifier;
  /** Of the tree of facts, if it grows; until the chain is closed. */
  readonly figures: FactsTask["figures"] | undefined;
  /** Closes the chain and its database. */
  close(): Promise<void>;
};

/** In a new database file, with the genesis block. */
export function openPipeline(path: string, fixture: Fixture, options: PipelineOptions): Pipeline {
  const { threads, accelerator, assumeValid, events = { eventsOfFacts, eventsOfRevert } } = options;
  const database = openDatabase(path);
  migrate(database);
  const verifier = createVerifier({ threads, accelerator });
  const chain = createChain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network: fixture.network,
    genesis: fixture.genesis,
    verifier,
    events: createEventLog(database, { recordedNames: () => new Set() }),
    ...events,
    now: Date.now,
    assumeValid,
    onListenerError(error) {
      throw error;
    },
  });
  const facts = options.facts
    ? startFactsTask({
        database,
        network: fixture.network,
        isDevChain: false,
        logger: pino({ level: "error" }),
      })
    : undefined;
  if (facts) chain.subscribe(facts.chainChanged);
  return {
    chain,
    verifier,
    figures: facts?.figures,
    async close() {
      facts?.close();
      await chain.close();
      database.close();
    },
  };
}
