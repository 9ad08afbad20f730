/** The parts that run in the serving thread of a node. */
import type { MessagePort } from "node:worker_threads";
import { assemble, type ServingProcess } from "./assembly.ts";
import { openNodeContext } from "./node-context.ts";
import { openNodeSources } from "./node-sources.ts";
import type { ServingData } from "./thread.ts";

/** Opens the connections, listens and begins to deliver. */
export async function startServing(data: ServingData, gatewayPort: MessagePort): Promise<ServingProcess> {
  const context = openNodeContext(data, gatewayPort);
  return assemble(context, openNodeSources(context));
}
