/** Shared by all parts of a serving process: options, network, log, and the gateway to the node. */
import { createNetwork, createSlots, type Network, type Slots } from "@uniknode/protocol";
import type { RemoteGateway } from "../../gateway/gateway.ts";
import { createTimestampOf, type TimestampOf } from "../../http/core/values.ts";
import { type Closing, createClosing } from "../../platform/lifecycle/closing.ts";
import { type Log, openLog } from "../../platform/logging/logger.ts";
import type { CallFigures } from "../../platform/threads/call.ts";
import type { ServedData } from "./options.ts";

export type ServingContext = {
  readonly data: ServedData;
  readonly network: Network;
  readonly slots: Slots;
  readonly timestampOf: TimestampOf;
  readonly gateway: RemoteGateway;
  /** Returns the calls through the gateway. */
  readonly gatewayCalls: () => CallFigures;
  /** Seconds since the last sign of life of the node's consensus thread. */
  readonly consensusSilentSeconds: () => number;
  readonly logger: Log["logger"];
  /** Returns the number of log lines that this thread lost. */
  readonly logLinesLost: Log["lost"];
  readonly closing: Closing;
};

export type Environment = Omit<ServingContext, "gateway" | "gatewayCalls" | "consensusSilentSeconds">;

/** Opens the parts that do not depend on the connection to the node. */
export function openEnvironment(data: ServedData): Environment {
  const { logger, lost } = openLog(data.logLevel, data.logFormat);
  const network = createNetwork(data.files);
  const slots = createSlots(network);
  const timestampOf = createTimestampOf(slots.unixMsOf);
  return { data, network, slots, timestampOf, logger, logLinesLost: lost, closing: createClosing() };
}
