/** What an attack is. */
import type { SiegedNode, Target } from "./target.ts";

/** Time in which slots are missed through no fault of the node, by the clock that it goes by. */
export type Outage = {
  readonly fromMs: number;
  readonly toMs: number;
  /** What the reason of such a slot must contain. */
  readonly reason: string;
};

/** Counts of one attack. What one offer is (a request, a connection, a message) depends on the attack. */
export type Counts = {
  offered(count?: number): void;
  /** Answered with a refusal (4xx, 5xx, an error), or ended by the node. */
  refused(count?: number): void;
};

export type Tally = Counts & {
  /** Slots of this time are expected to be missed. Those of attacks that say nothing never are. */
  outage(outage: Outage): void;
};

export type Attack = {
  /** In the table and behind `--only`. */
  readonly name: string;
  /** What the attacker does, in one sentence. */
  readonly description: string;
  /** Starts the node that it is carried out on; the one that all others share unless given. */
  readonly start?: () => Promise<SiegedNode>;
  /** What this machine lacks for it, if anything. */
  readonly missingRequirement?: () => string | undefined;
  /** Prepares the chain before the attack is observed. */
  readonly prepare?: (target: Target) => Promise<void>;
  /** It takes at least so long, whatever is asked for. */
  readonly minMs?: number;
  /** Attacks until the signal is aborted, and ends everything that it opened. */
  run(target: Target, tally: Tally, signal: AbortSignal): Promise<void>;
};
