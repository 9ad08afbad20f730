/** All metrics of a node, in the text format of Prometheus. They are kept in the serving thread. */
import type { FeedFigures } from "../../feed/feed.ts";
import type { NodeFigures } from "../../gateway/figures.ts";
import type { RemoteCallFigures } from "../../gateway/remote-processes.ts";
import type { SessionFigures } from "../../http/console/sessions.ts";
import type { LoopDelay } from "../../platform/lifecycle/event-loop.ts";
import type { CallFigures } from "../../platform/threads/call.ts";
import type { StreamFigures } from "../../stream/stream.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import type { WebhookFigures } from "../../webhooks/figures.ts";
import { type ConnectionsOfListeners, createConnectionMetrics, HttpMetrics } from "./http.ts";
import { type Instruments, instrumentsOf, Registry, showTotal } from "./instruments.ts";
import { NodeMetrics } from "./node.ts";
import { createProcessMetrics, type ProcessFigures } from "./process.ts";
import { createMatchingMetrics, EachWebhook, type FiguresByWebhook, WebhookMetrics } from "./webhooks.ts";

/** Figures that are read at each scrape, rather than counted as they occur. */
export type Figures = FiguresByWebhook & {
  /** Undefined while the consensus thread does not reply. */
  readonly node: NodeFigures | undefined;
  readonly serving: LoopDelay;
  readonly webhooks: WebhookFigures;
  readonly calls: CallsByThread;
  readonly streams: StreamFigures;
  /** Undefined: the feed is disabled. */
  readonly feed: FeedFigures | undefined;
  /** Undefined: the feed is disabled. */
  readonly remoteCalls: RemoteCallFigures | undefined;
  readonly connections: ConnectionsOfListeners;
  /** Number of open connections to NATS servers. */
  readonly natsConnections: number;
  readonly sessions: SessionFigures;
  readonly process: ProcessFigures;
};

export class Metrics {
  readonly http: HttpMetrics;
  /** Called by the webhook service. */
  readonly webhooks: Pick<WebhookObserver, "attempted" | "decided">;
  readonly matching: MatchingObserver;
  readonly #registry = new Registry();
  readonly #node: NodeMetrics;
  readonly #webhooks: WebhookMetrics;
  readonly #eachWebhook = new EachWebhook();
  readonly #showConnections: ReturnType<typeof createConnectionMetrics>;
  readonly #showProcess: ReturnType<typeof createProcessMetrics>;
  readonly #showSessions: (figures: SessionFigures) => void;
  readonly #showFeed: (figures: FeedFigures) => void;
  readonly #showRemoteCalls: (figures: RemoteCallFigures) => void;
  readonly #showCalls: (calls: CallsByThread) => void;

  /** Creates the instruments in the order in which a scrape returns them. */
  constructor(version: string) {
    const registry = this.#registry;
    const instruments = instrumentsOf(registry);
    this.#node = new NodeMetrics(registry, version);
    this.#webhooks = new WebhookMetrics(registry);
    this.http = new HttpMetrics(registry);
    this.#showConnections = createConnectionMetrics(registry);
    this.#showProcess = createProcessMetrics(registry);
    this.#showSessions = createSessionMetrics(instruments);
    this.#showFeed = createFeedMetrics(instruments);
    this.#showRemoteCalls = createRemoteCallMetrics(instruments);
    this.#showCalls = createCallMetrics(instruments);
    this.matching = createMatchingMetrics(registry);
    this.webhooks = {
      attempted: (attempted) => this.#webhooks.attempted(attempted),
      decided: (webhook, decision) => this.#eachWebhook.decided(webhook, decision),
    };
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Returns the text of a scrape. */
  async page(figures: Figures, nowMs: number): Promise<string> {
    this.#node.showNode(figures.node);
    this.#node.showServing(figures.serving);
    this.#webhooks.show(figures.webhooks, figures.natsConnections, nowMs);
    this.http.showStreams(figures.streams);
    if (figures.feed) this.#showFeed(figures.feed);
    if (figures.remoteCalls) this.#showRemoteCalls(figures.remoteCalls);
    this.#showConnections(figures.connections);
    this.#showSessions(figures.sessions);
    this.#showProcess(figures.process, figures.node?.logLinesLost);
    this.#showCalls(figures.calls);
    return `${await this.#registry.metrics()}\n${this.#eachWebhook.text(figures, nowMs)}`;
  }
}

type CallsByThread = Readonly<Record<"consensus" | "slow", CallFigures>>;

/** Calls to other threads. */
function createCallMetrics({ gauge, counter }: Instruments): (calls: CallsByThread) => void {
  const open = gauge("uniknode_thread_calls", "Calls to each thread that are in progress.", "thread");
  const timedOut = counter(
    "uniknode_thread_calls_timed_out_total",
    "Calls to each thread that timed out.",
    "thread",
  );
  const refused = counter(
    "uniknode_thread_calls_refused_total",
    "Calls to each thread that were refused because too many were in progress.",
    "thread",
  );

  return (calls) => {
    timedOut.reset();
    refused.reset();
    for (const [thread, figures] of Object.entries(calls)) {
      open.set({ thread }, figures.open);
      timedOut.inc({ thread }, figures.timedOut);
      refused.inc({ thread }, figures.refused);
    }
  };
}

/** Creates the metrics of the feed for mirrors. */
function createFeedMetrics({ gauge, counter }: Instruments): (figures: FeedFigures) => void {
  const open = gauge("uniknode_feed_responses", "Open responses of the feed.");
  const sent = counter(
    "uniknode_feed_sent_characters_total",
    "Characters that the feed sent, before compression.",
  );
  const events = counter(
    "uniknode_feed_events_sent_total",
    "Events of the log that the feed sent to mirrors.",
  );
  const uncopied = gauge(
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

/** Calls of other machines. */
function createRemoteCallMetrics({ gauge, counter }: Instruments): (figures: RemoteCallFigures) => void {
  const open = gauge("uniknode_gateway_calls", "Calls of other machines that are in progress.");
  const refused = counter(
    "uniknode_gateway_calls_refused_total",
    "Calls of other machines that were refused because too many were in progress.",
  );
  const late = counter(
    "uniknode_gateway_calls_late_total",
    "Calls of other machines that were not executed because their time was over.",
  );
  return (figures) => {
    open.set(figures.open);
    showTotal(refused, figures.refused);
    showTotal(late, figures.late);
  };
}

/** Creates the metrics of the sessions at the console. */
function createSessionMetrics({ gauge }: Instruments): (figures: SessionFigures) => void {
  const sessions = gauge("uniknode_console_sessions", "Console sessions: browsers that are signed in.");
  const links = gauge("uniknode_console_links", "Unused one-time links for signing in to the console.");
  return (figures) => {
    sessions.set(figures.sessions);
    links.set(figures.codes);
  };
}
