/** What can be asked of a dev chain, and what comes back: plain values, for they travel between threads. */

export type DevCommand =
  /** Forges blocks of what is pending. */
  | { readonly verb: "mine"; readonly blocks: number }
  /** Leaves the top `depth` blocks for a branch of `blocks`, by default one more; without the pool, they are empty. */
  | {
      readonly verb: "reorg";
      readonly depth: number;
      readonly blocks?: number;
      readonly withTransactions: boolean;
    }
  /** Changes nothing: the id of the head is all that is needed to come back to it. */
  | { readonly verb: "snapshot" }
  /** Goes back to the block with this id, and drops what is pending. */
  | { readonly verb: "restore"; readonly id: string }
  /** Moves the clock on, by seconds or to a Unix time in seconds. */
  | { readonly verb: "travel"; readonly seconds: number }
  | { readonly verb: "travel"; readonly to: number }
  /** Lets the chain forge by itself, or not. */
  | { readonly verb: "forge"; readonly isEnabled: boolean };

/** `timestamp` in seconds since the network epoch. */
export type BlockReference = { readonly height: number; readonly id: string; readonly timestamp: number };

export type DevAnswer = {
  readonly head: BlockReference;
  /** Blocks that left the chain, from the top down. */
  readonly reverted: readonly BlockReference[];
  /** Blocks that came, by ascending height. */
  readonly applied: readonly BlockReference[];
  /** The clock of the chain, seconds since the network epoch. */
  readonly now: number;
  /** Whether the chain forges by itself. */
  readonly isForging: boolean;
};

export type DevErrorCode =
  /** This is no dev chain. */
  | "DEV_ONLY"
  /** The first blocks of the chain are not there yet; worth a retry in a moment. */
  | "DEV_STARTING"
  /** The branch would begin below the first blocks of the chain. */
  | "DEV_DEPTH"
  /** The other branch would not be longer than the blocks that leave. */
  | "DEV_BRANCH"
  /** No block of this id is on the chain (any more). */
  | "DEV_SNAPSHOT"
  /** The clock does not go there. */
  | "DEV_TIME"
  /** The keys of all active delegates are elsewhere. */
  | "DEV_DELEGATES";

export class DevError extends Error {
  readonly code: DevErrorCode;
  readonly isRetryable: boolean;

  constructor(code: DevErrorCode, message: string) {
    super(message);
    this.name = "DevError";
    this.code = code;
    this.isRetryable = code === "DEV_STARTING";
  }
}
