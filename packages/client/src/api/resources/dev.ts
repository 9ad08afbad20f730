/** `/dev`: the commands of a dev chain, for tests of programs that use a chain (docs/guides/dev-chain.md). */
import type { ApiResponse, Timestamp } from "../responses.ts";
import type { Send } from "../send.ts";

export type DevBlock = { readonly height: number; readonly id: string; readonly timestamp: Timestamp };

/** Effect of a dev command on the chain. */
export type DevChange = {
  readonly head: DevBlock;
  /** Blocks that were reverted, by descending height. */
  readonly reverted: readonly DevBlock[];
  /** Blocks that were applied, by ascending height. */
  readonly applied: readonly DevBlock[];
  /** The clock of the chain. */
  readonly now: Timestamp;
  /** True if the chain forges automatically. */
  readonly forging: boolean;
};

export type Reorganisation = {
  /** Blocks to revert. */
  readonly depth: number;
  /** Blocks of the new branch. Default: `depth` + 1. */
  readonly blocks?: number;
  /** True if the transactions of reverted blocks may be forged again. Default: false. */
  readonly transactions?: boolean;
  /**
   * Ids of transactions that the new branch omits, with `transactions: true`; at most 500. Transactions that
   * depend on them are omitted as well. All of them are pending again.
   */
  readonly without?: readonly string[];
};

/** Simulated failure that replaces the receiver of a webhook. */
export type ReceiverFailure =
  /** Responds with a status, 400 to 599. Default: 503. */
  | { readonly how: "refuse"; readonly status?: number }
  /** Delivers after this many seconds, or lets the attempt time out if that is sooner. Default: 30. */
  | { readonly how: "delay"; readonly seconds?: number }
  /** Closes the connection without a response. */
  | { readonly how: "drop" };

export type FailingReceiver = { readonly webhook: number } & Required<ReceiverFailure>;

/** Its keys are public knowledge: never send anything of value to it. */
export type DevAccount = {
  readonly address: string;
  readonly passphrase: string;
  readonly publicKey: string;
  readonly unik?: { readonly id: string; readonly kind: "individual" | "organization" | "network" };
};

export type DevAccounts = {
  /** Funded by the first blocks. */
  readonly accounts: readonly DevAccount[];
  readonly delegates: readonly DevAccount[];
  /** Its unik certifies mints, updates and disclosures. */
  readonly factory: DevAccount;
  readonly foundation: DevAccount;
};

export function dev(send: Send) {
  const post = (name: string, body: object = {}) =>
    send<ApiResponse<DevChange>>({ method: "POST", path: `/dev/${name}`, body });

  return {
    /** Forges blocks at once. Default: one. */
    mine: (options: { readonly blocks?: number } = {}) => post("mine", options),

    /** Replaces the top blocks with another branch. */
    reorg: (options: Reorganisation) => post("reorg", options),

    /** The id for `restore`. */
    snapshot: () =>
      send<ApiResponse<DevChange & { readonly id: string }>>({
        method: "POST",
        path: "/dev/snapshot",
        body: {},
      }),

    /** Reverts to a block and drops pending transactions. */
    restore: (id: string) => post("restore", { id }),

    /** Moves the clock forward, by seconds or to a Unix time in seconds. */
    travel: (journey: { readonly seconds: number } | { readonly to: number }) => post("travel", journey),

    /** Enables or disables automatic forging. */
    forge: (options: { readonly enabled: boolean }) => post("forge", options),

    /** Starts simulating a failure of a receiver; `not` ends it. Returns all simulated failures. */
    fail: (webhook: number, failure: ReceiverFailure | { readonly how: "not" }) =>
      send<ApiResponse<readonly FailingReceiver[]>>({
        method: "POST",
        path: "/dev/fail",
        body: { webhook, ...failure },
      }),

    accounts: () => send<ApiResponse<DevAccounts>>({ path: "/dev/accounts" }),

    /** Lists the simulated failures; a restart ends them. */
    failing: () => send<ApiResponse<readonly FailingReceiver[]>>({ path: "/dev/fail" }),
  };
}
