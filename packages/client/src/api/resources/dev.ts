/** `/dev`: the verbs of a dev chain, for tests of programs that use a chain (docs/guides/dev-chain.md). */
import type { Answer, Timestamp } from "../answers.ts";
import type { Send } from "../send.ts";

export type DevBlock = { readonly height: number; readonly id: string; readonly timestamp: Timestamp };

/** What a verb has done to the chain. */
export type DevChange = {
  readonly head: DevBlock;
  /** Blocks that left the chain, from the top down. */
  readonly reverted: readonly DevBlock[];
  /** Blocks that came, by ascending height. */
  readonly applied: readonly DevBlock[];
  /** The clock of the chain. */
  readonly now: Timestamp;
  /** Whether the chain forges by itself. */
  readonly forging: boolean;
};

export type Reorganisation = {
  /** Blocks that leave. */
  readonly depth: number;
  /** Blocks that come. Default: one more than leave. */
  readonly blocks?: number;
  /** Whether what was in the blocks that leave may come again. Default: false. */
  readonly transactions?: boolean;
};

export function dev(send: Send) {
  const verb = (name: string, body: object = {}) =>
    send<Answer<DevChange>>({ method: "POST", path: `/dev/${name}`, body });

  return {
    /** Forges blocks at once: one, unless said otherwise. */
    mine: (options: { readonly blocks?: number } = {}) => verb("mine", options),

    /** Leaves the top of the chain for another branch. */
    reorg: (options: Reorganisation) => verb("reorg", options),

    /** The id for `restore`. */
    snapshot: () =>
      send<Answer<DevChange & { readonly id: string }>>({ method: "POST", path: "/dev/snapshot", body: {} }),

    /** Reverts to a block, and drops pending transactions. */
    restore: (id: string) => verb("restore", { id }),

    /** Moves the clock on, by seconds or to a Unix time in seconds. */
    travel: (journey: { readonly seconds: number } | { readonly to: number }) => verb("travel", journey),

    /** Lets the chain forge by itself, or not. */
    forge: (options: { readonly enabled: boolean }) => verb("forge", options),
  };
}
