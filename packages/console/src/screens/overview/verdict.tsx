/** One sentence about the state of the node; problems come first. */
import { useComputed } from "@preact/signals";
import { DelegateName } from "../../components/delegate-name.tsx";

import { Loading } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";

/** Number of slots without a block after which a chain counts as stalled. */
const LATE_SLOTS = 5;

export function Verdict() {
  const { head, connection, configuration, nowMs, api } = useNode();
  const { value: block } = head;
  const lateMs = (configuration.value?.constants.blocktime ?? 0) * LATE_SLOTS * 1_000;
  const isLate = useComputed(() => nowMs.value - (head.value?.timestamp.unix ?? 0) * 1_000 > lateMs);
  // Without a new head, the reason appears or ends with the time.
  const status = useResponse("node status", () => api.node.status(), { everyMs: 10_000 });
  const reason = status.value?.data.futureHead;
  if (!block) return connection.value.state === "disconnected" ? null : <Loading lines={1} />;
  const { username, address } = block.generator;
  const isCatchingUp = connection.value.state === "connected" && connection.value.progress !== undefined;
  const forger = username ? <DelegateName id={username} /> : address;
  const isWrong = (isLate.value || reason) && !isCatchingUp;
  return (
    <p class={isWrong ? "verdict late" : "verdict"}>
      <span>
        {connection.value.state === "disconnected"
          ? "The node does not respond."
          : isCatchingUp
            ? "The node is catching up."
            : isWrong
              ? `The chain has stopped growing${reason ? `: ${reason}` : ""}.`
              : "The chain is growing."}
      </span>{" "}
      <span>
        Newest block: by {forger}, <Time timeMs={block.timestamp.unix * 1_000} />
      </span>
    </p>
  );
}
