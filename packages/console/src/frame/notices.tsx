/** What a reader must know of every page: the node does not answer, is behind, or has changed the chain. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { absoluteText, countText, durationText } from "../components/format.ts";
import { Icon } from "../components/icon.tsx";
import type { Reorganization } from "../data/chain.ts";
import type { Connection } from "../data/feed.ts";
import { useNode } from "../data/node.ts";

export function Notices() {
  const { connection } = useNode();
  const { value } = connection;
  return (
    <div class="notices" role="status">
      {value.state === "disconnected" && <Disconnected connection={value} />}
      {value.state === "connected" && value.progress && <CatchingUp progress={value.progress} />}
      <Reorganized />
    </div>
  );
}

function Disconnected({ connection }: { connection: Connection & { state: "disconnected" } }) {
  const { poll, nowMs, clockOffsetMs } = useNode();
  const secondsLeft = useComputed(() => {
    const leftMs = connection.retryAtMs - (nowMs.value - clockOffsetMs.value);
    return leftMs > 500 ? `in ${Math.round(leftMs / 1_000)} s` : "now";
  });
  return (
    <div class="bad">
      <Icon name="warning" />
      <span>
        The node does not answer. What you see is from before; the page tries again{" "}
        <span aria-hidden="true">{secondsLeft}</span>.
      </span>
      <button type="button" onClick={poll}>
        Try now
      </button>
    </div>
  );
}

type Progress = NonNullable<(Connection & { state: "connected" })["progress"]>;

function CatchingUp({ progress }: { progress: Progress }) {
  const { head } = useNode();
  const { target, percent, blocksPerSecond, secondsLeft } = progress;
  return (
    <div class="warning">
      <Icon name="live" />
      <span>
        The node is catching up: height {countText(head.value?.height ?? 0)} of {countText(target)}
      </span>
      <progress value={percent} max={100} aria-label="Blocks that the node has" />
      <span>
        {percent} % · {countText(Math.round(blocksPerSecond))} blocks/s
        {secondsLeft !== undefined && ` · ${durationText(secondsLeft)} left`}
      </span>
    </div>
  );
}

/** Until it is dismissed; the next one shows again. */
function Reorganized() {
  const { reorganization } = useNode();
  const shown = useSignal<{ change: Reorganization; atMs: number }>();
  useSignalEffect(() => {
    const { value: change } = reorganization;
    if (change) shown.value = { change, atMs: Date.now() };
  });
  if (!shown.value) return null;
  const { change, atMs } = shown.value;
  const lowest = change.reverted.at(-1)!.height;
  const { length } = change.reverted;
  return (
    <div class="warning">
      <Icon name="warning" />
      <span>
        {change.isDeep && "At least "}
        {length === 1 ? "One block was" : `${countText(length)} blocks were`} reverted at {absoluteText(atMs)}
        , from height {countText(lowest)} on. The page shows the chain as it is now.
      </span>
      <button
        type="button"
        onClick={() => {
          shown.value = undefined;
        }}
      >
        Close
      </button>
    </div>
  );
}
