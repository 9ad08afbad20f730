/** Notice that the node is catching up with the network. */
import type { SyncProgress } from "@uniknode/client";
import { countText, durationText } from "../components/format.ts";
import { Icon } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";

export function CatchingUp({ progress }: { progress: SyncProgress }) {
  const { head } = useNode();
  const { target, percent, blocksPerSecond, secondsLeft } = progress;
  return (
    <div class="warning">
      <Icon name="live" />
      <span>
        The node is catching up: height {countText(head.value?.height ?? 0)} of {countText(target)}
      </span>
      <progress value={percent} max={100} aria-label="Blocks synchronized" />
      <span>
        {percent} % · {countText(Math.round(blocksPerSecond))} blocks/s
        {secondsLeft !== undefined && ` · ${durationText(secondsLeft)} left`}
      </span>
    </div>
  );
}
