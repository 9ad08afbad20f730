/** Metrics of the feed for mirrors. */
import type { FeedFigures } from "../../feed/feed.ts";
import { Counter, createCounter, createGauge, Gauge, type Registry, showTotal } from "./instruments.ts";

export function createFeedMetrics(registry: Registry): (figures: FeedFigures) => void {
  const registers = [registry];
  const open = new Gauge({ name: "uniknode_feed_responses", help: "Open responses of the feed.", registers });
  const sent = new Counter({
    name: "uniknode_feed_sent_characters_total",
    help: "Characters that the feed sent, before compression.",
    registers,
  });
  const events = createCounter(
    registry,
    "uniknode_feed_events_sent_total",
    "Events of the log that the feed sent to mirrors.",
  );
  const uncopied = createGauge(
    registry,
    "uniknode_feed_events_uncopied",
    "Events that the log keeps because a mirror has not confirmed its copies.",
  );
  return (figures) => {
    open.set(figures.open);
    showTotal(sent, figures.sentCharacters);
    showTotal(events, figures.sentEvents);
    uncopied.set(figures.uncopiedEvents);
  };
}
