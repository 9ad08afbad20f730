/** Metrics of the feed for mirrors. */
import type { FeedFigures } from "../../feed/feed.ts";
import { Counter, Gauge, type Registry, showTotal } from "./instruments.ts";

export function createFeedMetrics(registry: Registry): (figures: FeedFigures) => void {
  const registers = [registry];
  const open = new Gauge({ name: "uniknode_feed_responses", help: "Open responses of the feed.", registers });
  const sent = new Counter({
    name: "uniknode_feed_sent_characters_total",
    help: "Characters that the feed sent, before compression.",
    registers,
  });
  return (figures) => {
    open.set(figures.open);
    showTotal(sent, figures.sentCharacters);
  };
}
