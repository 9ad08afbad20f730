/** Values that every part of a node uses: its network, the network's calendar, the clock and the log. */
import {
  createNetwork,
  createRounds,
  createSlots,
  type Network,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { NodeDeps } from "./options.ts";

export type Environment = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Network time in seconds. */
  readonly now: () => number;
  readonly logger: Logger;
};

export function createEnvironment({
  files,
  nowMs,
  logger,
}: Pick<NodeDeps, "files" | "nowMs" | "logger">): Environment {
  const network = createNetwork(files);
  const slots = createSlots(network);
  return {
    network,
    slots,
    rounds: createRounds(network),
    nowMs,
    now: () => slots.timeAt(nowMs()),
    logger,
  };
}
