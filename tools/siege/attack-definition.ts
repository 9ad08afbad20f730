/** Definition of an attack. */
import type { SiegedNode, Target } from "./target.ts";

/** Period in which slots are missed for an external reason, by the clock of the node. */
export type Outage = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Text that the reason of such a slot must contain. */
  readonly reason: string;
};

/** Counts of one attack. An offer is a request, a connection or a message, depending on the attack. */
export type Counts = {
  offered(count?: number): void;
  /** Offers refused (4xx, 5xx, an error) or closed by the node. */
  refused(count?: number): void;
};

export type Tally = Counts & {
  /** Slots in this period are expected to be missed. Absent: no slot may be missed. */
  outage(outage: Outage): void;
};

export type Attack = {
  /** Name in the table and for `--only`. */
  readonly name: string;
  /** One sentence that describes the attack. */
  readonly description: string;
  /** Starts the node for this attack. Absent: the attack uses the shared node. */
  readonly start?: () => Promise<SiegedNode>;
  /** Returns the requirement that this machine lacks, if any. */
  readonly missingRequirement?: () => string | undefined;
  /** Prepares the chain before the attack is observed. */
  readonly prepare?: (target: Target) => Promise<void>;
  /** Minimum duration, regardless of the options. */
  readonly minMs?: number;
  /** Maximum duration of a tick of the consensus thread, if lower than that of the options. */
  readonly maxTickMs?: number;
  /** Attacks until the signal is aborted, and closes everything that it opened. */
  run(target: Target, tally: Tally, signal: AbortSignal): Promise<void>;
};
