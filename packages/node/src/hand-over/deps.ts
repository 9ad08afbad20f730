/** Both sides of a hand-over, as its steps use them. */
import type { RemoteGateway } from "../gateway/gateway.ts";
import type { WorkersSide } from "../webhooks/hand-over/workers-side.ts";
import type { NodeClient } from "./node-client.ts";

export type Sides = {
  readonly node: NodeClient;
  readonly gateway: Pick<RemoteGateway, "replaceRemoteNames">;
  readonly workers: WorkersSide;
  /** Shows what happens. */
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
};
