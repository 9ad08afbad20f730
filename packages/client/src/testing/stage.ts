/** State of a run, which its steps share. */
import type { Network } from "@uniknode/protocol";
import type { Client } from "../api/client.ts";
import type { DevBlock } from "../api/resources/dev.ts";
import type { Names } from "./names.ts";

/** Frees a resource after a run, with a client that the end of the run does not abort. */
export type Ending = (client: Client) => Promise<void>;

export type Stage = {
  readonly client: Client;
  /** Client whose requests the end of the run does not abort: what they create is known, and removed. */
  readonly durable: Client;
  readonly network: Network;
  readonly names: Names;
  readonly signal: AbortSignal;
  /** Head before the first step. */
  readonly start: DevBlock;
  /** Balances before the first step, in the smallest unit, by address. */
  readonly balances: ReadonlyMap<string, bigint>;
  /** Ids of submitted transactions by name. */
  readonly transactions: Map<string, string>;
  /** Ids of blocks by name of the snapshot. */
  readonly snapshots: Map<string, string>;
  /** Webhooks by name, with the newest delivery before the scenario. */
  readonly webhooks: Map<string | number, { readonly id: number; readonly lastDelivery: number }>;
  /** Frees what the steps have opened; called in reverse order. */
  readonly onEnd: (ending: Ending) => void;
  /** Settles when the last step has ended, also after its deadline. */
  running?: Promise<void>;
  /** State of a wait, for the message if the step times out. */
  waitsFor?: string | undefined;
};
