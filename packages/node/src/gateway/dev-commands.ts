/** Commands of a dev chain and their results: plain values, because they are sent between threads. */
import { CodedError } from "../platform/coded-error.ts";

export type DevCommand =
  /** Forges blocks with the pending transactions. */
  | { readonly name: "mine"; readonly blocks: number }
  /**
   * Replaces the top `depth` blocks by a branch of `blocks` blocks, by default `depth` + 1; its blocks are
   * empty unless `withTransactions`. They contain neither the transactions whose ids are in `leftOut` nor
   * transactions that depend on these.
   */
  | {
      readonly name: "reorg";
      readonly depth: number;
      readonly blocks?: number;
      readonly withTransactions: boolean;
      readonly leftOut?: readonly string[];
    }
  /** Changes nothing: returns the id of the head, for `restore`. */
  | { readonly name: "snapshot" }
  /** Reverts the blocks above this one, and removes all pending transactions. */
  | { readonly name: "restore"; readonly id: string }
  /** Moves the clock forward, by seconds or to a Unix time in seconds. */
  | { readonly name: "travel"; readonly seconds: number }
  | { readonly name: "travel"; readonly to: number }
  /** Turns automatic forging on or off. */
  | { readonly name: "forge"; readonly isEnabled: boolean };

/** `timestamp` in seconds since the network epoch. */
export type BlockReference = { readonly height: number; readonly id: string; readonly timestamp: number };

export type DevResult = {
  readonly head: BlockReference;
  /** Reverted blocks, by descending height. */
  readonly reverted: readonly BlockReference[];
  /** Applied blocks, by ascending height. */
  readonly applied: readonly BlockReference[];
  /** The clock of the chain, seconds since the network epoch. */
  readonly now: number;
  /** True if automatic forging is on. */
  readonly isForging: boolean;
};

export type DevErrorCode =
  /** The chain is not a dev chain. */
  | "DEV_ONLY"
  /** The setup blocks of the chain are not forged yet; retry after a moment. */
  | "DEV_STARTING"
  /** The branch would begin below the setup blocks of the chain. */
  | "DEV_DEPTH"
  /** The branch would not be longer than the reverted blocks. */
  | "DEV_BRANCH"
  /** No block on the chain has this id. */
  | "DEV_SNAPSHOT"
  /** The time is in the past, or beyond the last possible one. */
  | "DEV_TIME"
  /** The node has no key of an active delegate. */
  | "DEV_DELEGATES";

export class DevError extends CodedError<DevErrorCode> {
  constructor(code: DevErrorCode, message: string) {
    super(code, message, { isRetryable: code === "DEV_STARTING" });
  }
}
