/** All metrics of a node, in the text format of Prometheus. They are kept in the serving thread. */

import type { FeedFigures } from "../../feed/feed.ts";
import type { NodeFigures } from "../../gateway/figures.ts";
import type { RemoteCallFigures } from "../../gateway/remote-calls.ts";
import type { SessionFigures } from "../../http/console/sessions.ts";
import type { LoopDelay } from "../../platform/lifecycle/loop-delay.ts";
import type { StreamFigures } from "../../stream/stream.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import type { WebhookFigures } from "../../webhooks/figures.ts";
import { type CallsByThread, createCallMetrics } from "./calls.ts";
import { type ConnectionsOfListeners, createConnectionMetrics } from "./connections.ts";
import { createEachWebhook, type FiguresByWebhook } from "./each-webhook.ts";
import { createFeedMetrics } from "./feed.ts";
import { createHttpMetrics, type HttpMetrics } from "./http.ts";
import { Registry } from "./instruments.ts";
import { createMatchingMetrics } from "./matching.ts";
import { createNodeMetrics } from "./node.ts";
import { createProcessMetrics, type ProcessFigures } from "./process.ts";
import { createRemoteCallMetrics } from "./remote-calls.ts";
import { createSessionMetrics } from "./sessions.ts";
import { createWebhookMetrics } from "./webhooks.ts";

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

export type Metrics = {
  readonly http: Pick<HttpMetrics, "responded">;
  /** Called by the webhook service. */
  readonly webhooks: Pick<WebhookObserver, "attempted" | "decided">;
  readonly matching: MatchingObserver;
  readonly contentType: string;
  /** Returns the text of a scrape. */
  page(figures: Figures, nowMs: number): Promise<string>;
};

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const node = createNodeMetrics(registry, version);
  const webhooks = createWebhookMetrics(registry);
  const eachWebhook = createEachWebhook();
  const http = createHttpMetrics(registry);
  const connections = createConnectionMetrics(registry);
  const process = createProcessMetrics(registry);
  const showSessions = createSessionMetrics(registry);
  const showFeed = createFeedMetrics(registry);
  const showRemoteCalls = createRemoteCallMetrics(registry);
  const showCalls = createCallMetrics(registry);
  return {
    http,
    webhooks: { attempted: webhooks.attempted, decided: eachWebhook.decided },
    matching: createMatchingMetrics(registry),
    contentType: registry.contentType,
    async page(figures, nowMs) {
      node.showNode(figures.node);
      node.showServing(figures.serving);
      webhooks.show(figures.webhooks, figures.natsConnections, nowMs);
      http.showStreams(figures.streams);
      if (figures.feed) showFeed(figures.feed);
      if (figures.remoteCalls) showRemoteCalls(figures.remoteCalls);
      connections.show(figures.connections);
      showSessions(figures.sessions);
      process.show(figures.process, figures.node?.logLinesLost);
      showCalls(figures.calls);
      return `${await registry.metrics()}\n${eachWebhook.text(figures, nowMs)}`;
    },
  };
}
