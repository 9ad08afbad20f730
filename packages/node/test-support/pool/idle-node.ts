/**
 * Parts of a gateway for nodes that have only a pool and a chain: no forger, no event loop metrics, no
 * webhooks and no streams.
 */
import type { GatewayDeps } from "../../src/processes/node/node-gateway.ts";

export const IDLE_NODE: Pick<
  GatewayDeps,
  "assumption" | "revertedBlocks" | "forging" | "facts" | "logLinesLost" | "loopDelay" | "subscribedEvents"
> = {
  revertedBlocks: () => 0,
  assumption: () => ({ pin: undefined, uncheckedFrom: undefined }),
  forging: () => ({
    forged: 0,
    missed: 0,
    refused: { signed_before: 0, watching: 0, other_forger: 0, head_in_future: 0 },
    keysUsedElsewhere: 0,
  }),
  logLinesLost: () => 0,
  facts: () => ({ size: 0, height: 0, lag: 0 }),
  loopDelay: () => ({ p50: 0, p99: 0, max: 0 }),
  subscribedEvents: {
    webhooksChanged() {},
    streamsChanged: () => ({}),
    replaceRemote: () => 0,
  },
};
