/** The context of the serving thread of a node: the gateway over the channel to consensus, and its heartbeats. */
import type { MessagePort } from "node:worker_threads";
import { type ChannelGateway, gatewayThrough } from "../../gateway/channel.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { beat, watchAndLog } from "../../platform/lifecycle/heartbeats.ts";
import { openEnvironment, type ServingContext } from "./context.ts";
import type { ServingData } from "./thread.ts";

export type NodeContext = ServingContext & {
  readonly data: ServingData;
  readonly gateway: Gateway;
  /** Returns a gateway whose calls have at most this time. */
  readonly gatewayWithin: ChannelGateway["within"];
};

export function openNodeContext(data: ServingData, gatewayPort: MessagePort): NodeContext {
  const environment = openEnvironment(data);
  const { closing, logger } = environment;
  const { gateway, within, figures } = gatewayThrough(gatewayPort);
  closing.add("gateway", () => gatewayPort.close());
  closing.add("heartbeat", beat(data.heartbeats, "serving").close);
  const consensusWatch = watchAndLog(data.heartbeats, "consensus", logger);
  closing.add("watch", consensusWatch.close);
  return {
    ...environment,
    data,
    gateway,
    gatewayWithin: within,
    gatewayCalls: figures,
    consensusSilentSeconds: consensusWatch.silentSeconds,
  };
}
