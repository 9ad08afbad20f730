/** Forging in a node: the path of its blocks, its events, and the readiness that they wait for. */
import type { EncodedBlock } from "@uniknode/protocol";
import type { Chain } from "../../chain/chain.ts";
import { refusalOf } from "../../chain/outcome.ts";
import { eventOfArrival } from "../../events/block-events.ts";
import {
  eventOfForgerFailure,
  eventOfForgerStart,
  eventOfStart,
  eventsOfForging,
} from "../../events/node-events.ts";
import { Forging } from "../../forger/forging.ts";
import { watchFutureHead } from "../../forger/future-head.ts";
import type { Peers } from "../../peers/peers.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { present } from "../../platform/present.ts";
import type { Pool } from "../../pool/pool.ts";
import type { DataFolder } from "./data-folder.ts";
import type { NodeEventLog, Reporter } from "./event-log.ts";
import type { Environment, NodeOptions } from "./node-options.ts";

type OwnBlocksDeps = Pick<NodeEventLog, "events"> & {
  readonly reporter: Pick<Reporter, "log">;
  readonly chain: Pick<Chain, "accept">;
  /** Absent for a node without peers. */
  readonly peers: Pick<Peers, "submitBlock"> | undefined;
};

/**
 * Submits a block of this node: to the peers room, which also broadcasts it, or only to the chain. Resolves to the reason of a refusal,
 * or undefined.
 */
export type SubmitBlock = (block: EncodedBlock) => Promise<string | undefined>;

export function createSubmitBlock({ chain, peers, events, reporter }: OwnBlocksDeps): SubmitBlock {
  if (peers) return (block) => peers.submitBlock(block);
  return async (block) => {
    if (events.isRecorded("block.received")) reporter.log(eventOfArrival(block, "received"));
    return refusalOf(present((await chain.accept([block]))[0], "the outcome of a block"));
  };
}

type NodeForgingDeps = Omit<Environment, "now"> &
  Pick<DataFolder, "database" | "writes"> &
  Pick<NodeEventLog, "events" | "reporter"> & {
    readonly chain: Pick<Chain, "assumption" | "state" | "head" | "blocks">;
    readonly pool: Pick<Pool, "select">;
    /** Absent for a node without peers. */
    readonly peers: Pick<Peers, "preflightFailure"> | undefined;
    readonly submitBlock: SubmitBlock;
    readonly readiness: Pick<Readiness, "reached">;
  };

/** @throws {SigningRecordError} if the signing record is in use, damaged, or cannot be written */
export function createNodeForging(
  options: Pick<NodeOptions, "timing" | "isOnDemand" | "signingRecord" | "watchRounds" | "delegates">,
  deps: NodeForgingDeps,
  onStop: Closing["add"],
): Forging {
  const {
    database,
    network,
    slots,
    rounds,
    chain,
    pool,
    peers,
    submitBlock,
    events,
    reporter,
    nowMs,
    logger,
  } = deps;
  const { timing, isOnDemand, signingRecord, watchRounds, delegates } = options;
  const forging = new Forging(
    { timing, onDemand: isOnDemand, signingRecord, watchRounds },
    {
      delegates,
      database,
      network,
      slots,
      rounds,
      chain,
      selectTransactions: () => pool.select(),
      submitBlock,
      // A node whose disk is full falls behind; then the full disk is the reason for the missed slot.
      async preflight() {
        const failure = uncheckedFailure(chain) ?? (await peers?.preflightFailure());
        return failure && [failure, deps.writes.trouble()].filter(Boolean).join("; ");
      },
      onStarted: (publicKeys) =>
        void deps.readiness.reached.then(() => reporter.report(eventOfForgerStart(publicKeys, nowMs()))),
      onForged: (block) => reporter.report(...eventsOfForging(block, (name) => events.isRecorded(name))),
      onFailed: (error) => reporter.report(eventOfForgerFailure(error, nowMs())),
      nowMs,
      logger,
    },
  );
  onStop("signing record", () => forging.close());
  onStop("clock", watchFutureHead({ head: chain.head, slots, nowMs, logger }).close);
  return forging;
}

/** Blocks are signed only on a verified chain: a single peer could have invented an unchecked one. */
function uncheckedFailure(chain: Pick<Chain, "assumption">): string | undefined {
  const { pin, uncheckedFrom } = chain.assumption();
  if (!pin || uncheckedFrom === undefined) return undefined;
  return `signatures from block ${uncheckedFrom} on are unchecked until block ${pin.height} of --assume-valid is reached`;
}

type ReadinessDeps = Pick<Environment, "nowMs"> & { readonly reporter: Pick<Reporter, "report"> };

/** State of the start: complete once the node has been in sync with its network. A node without peers is in sync when it begins to forge. */
export class Readiness {
  /** Resolves after `reach`. */
  readonly reached: Promise<void>;
  readonly #resolve: () => void;
  readonly #deps: ReadinessDeps;

  constructor(deps: ReadinessDeps) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.reached = promise;
    this.#resolve = resolve;
    this.#deps = deps;
  }

  /** Must be called once, when the node is in sync for the first time: it has started. */
  reach(): void {
    const { reporter, nowMs } = this.#deps;
    reporter.report(eventOfStart(nowMs()));
    this.#resolve();
  }
}
