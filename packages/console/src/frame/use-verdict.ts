import { useComputed } from "@preact/signals";
import { useNode, useResponse } from "../data/node.ts";
import type { Verdict } from "../data/verdict.ts";

/** Number of slots without a block after which a chain counts as stalled. */
const LATE_SLOTS = 5;

/** Judges the chain and the node: problems come first. Returns undefined before the first block is known. */
export function useVerdict(): Verdict | undefined {
  const { head, connection, configuration, nowMs, api, operations, session } = useNode();
  const isLate = useComputed(() => {
    const lateMs = (configuration.value?.constants.blocktime ?? 0) * LATE_SLOTS * 1_000;
    return nowMs.value - (head.value?.timestamp.unix ?? 0) * 1_000 > lateMs;
  });
  // Without a new head, the reason appears or ends with the time.
  const status = useResponse("node status", () => api.node.status(), { everyMs: 10_000 });
  const overview = useResponse(
    session.state.value?.signedIn ? "node overview" : undefined,
    operations.operations.node,
    { lasts: "session", everyMs: 15_000 },
  );
  const { value } = connection;
  if (value.state === "disconnected") return { state: value.state, text: "The node does not respond" };
  if (value.state === "connecting" || !head.value) return undefined;
  if (value.progress) return { state: "catching-up", text: "The node is catching up" };
  const reason = status.value?.data.futureHead;
  const isWaiting = session.state.value?.onDemand && !reason;
  if (!isWaiting && (isLate.value || reason)) {
    return { state: "stopped", text: `The chain has stopped growing${reason ? `: ${reason}` : ""}` };
  }
  const failed = Object.values(overview.value?.data.checks ?? {}).find(({ ok }) => !ok);
  if (failed) return { state: "stopped", text: `The node is not ready: ${failed.detail}` };
  return { state: "connected", text: `The chain ${isWaiting ? "waits for transactions" : "is growing"}` };
}
