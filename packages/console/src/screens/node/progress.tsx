/** Sync progress of the node. */
import { countText, durationText } from "../../components/format.ts";
import { Time } from "../../components/time.tsx";
import { useNode } from "../../data/node.ts";

export function Progress() {
  const { head, connection } = useNode();
  const { value: block } = head;
  if (!block) return null;
  const progress = connection.value.state === "connected" ? connection.value.progress : undefined;
  if (!progress) {
    return (
      <p class="sentence">
        {connection.value.state === "disconnected" ? "The node does not respond. It was" : "The node is"} at
        height {countText(block.height)}; that block was forged <Time timeMs={block.timestamp.unix * 1_000} />
        .
      </p>
    );
  }
  const { target, percent, blocksPerSecond, secondsLeft } = progress;
  return (
    <section class="card sync">
      <p class="sentence">
        The node is catching up: height {countText(block.height)} of {countText(target)}, {percent.toFixed(1)}{" "}
        %.
      </p>
      <progress aria-label="Blocks synchronized" max={100} value={percent} />
      <p class="quiet">
        {countText(Math.round(blocksPerSecond))} blocks a second
        {secondsLeft !== undefined && `, about ${durationText(secondsLeft)} left`}
      </p>
    </section>
  );
}
