/** What an attack is. */
import type { Target } from "./target.ts";

/** Counts of one attack. What one offer is (a request, a connection, a message) depends on the attack. */
export type Tally = {
  offered(count?: number): void;
  /** Answered with a refusal (4xx, 5xx, an error), or ended by the node. */
  refused(count?: number): void;
};

export type Attack = {
  /** In the table and behind `--only`. */
  readonly name: string;
  /** What the attacker does, in one sentence. */
  readonly description: string;
  /** Attacks until the signal is aborted, and ends everything that it opened. */
  run(target: Target, tally: Tally, signal: AbortSignal): Promise<void>;
};
