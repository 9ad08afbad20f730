/** The serving thread: HTTP and the delivery of webhooks, on database connections of their own. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { startServing } from "./serving.ts";
import type { FromServing, ServingData, ToServing } from "./thread.ts";

const { gatewayPort, ...options } = workerData as ServingData & { gatewayPort: MessagePort };
const send = (message: FromServing) => parentPort!.postMessage(message);

const serving = await startServing(options, gatewayPort);
send({ kind: "listening", port: serving.port });

parentPort!.on("message", async ({ kind }: ToServing) => {
  if (kind === "wake") return serving.wake();
  await serving.close();
  gatewayPort.close();
  parentPort!.close();
});
