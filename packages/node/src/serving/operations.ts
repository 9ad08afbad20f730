/** Metrics and health, put together from every part of the serving thread and from the node. */
import { setImmediate } from "node:timers/promises";
import { createHealth } from "../health/health.ts";
import type { Operations } from "../http/operations/routes.ts";
import { programVersion } from "../lifecycle/version.ts";
import { measureLoopDelay } from "../metrics/loop-delay.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import type { Database } from "../store/database.ts";
import { createQueueFigures, totalOf } from "../store/queue-figures.ts";
import { createFiredFigures, createWebhookFigures } from "../store/webhook-figures.ts";
import { READER } from "../webhooks/matching/matcher.ts";
import type { WebhookObserver } from "../webhooks/observer.ts";
import type { Gateway } from "./gateway.ts";

export type OperationsDeps = {
  /** A connection that only reads. */
  readonly database: Database;
  readonly gateway: Pick<Gateway, "figures" | "status">;
  readonly streams: () => { open: number; cut: number };
  readonly areWebhooksOn: boolean;
};

/** Time that the thread of consensus has to answer. */
const ANSWER_TIMEOUT_MS = 2_000;

export function createOperations({ database, gateway, streams, areWebhooksOn }: OperationsDeps): {
  readonly operations: Operations;
  /** To be told what happens. */
  readonly observer: WebhookObserver;
  readonly answered: Metrics["http"]["answered"];
  close(): void;
} {
  const version = programVersion();
  const metrics = createMetrics(version);
  const loopDelay = measureLoopDelay();
  const webhooks = createWebhookFigures(database, READER);
  const fired = createFiredFigures(database);
  const queues = createQueueFigures(database, setImmediate);
  const status = () => inTime(gateway.status());
  const health = createHealth({ status, webhooks: areWebhooksOn ? webhooks : undefined, nowMs: Date.now });

  return {
    operations: {
      ready: health.ready,
      async status() {
        return {
          version,
          uptimeSeconds: Math.round(process.uptime()),
          ...(await health.ready()),
          node: (await status()) ?? null,
          webhooks: { ...webhooks(), queues: totalOf((await queues()).values()) },
          streams: streams(),
        };
      },
      metricsType: metrics.contentType,
      metrics: async () =>
        metrics.page(
          {
            node: await inTime(gateway.figures()),
            serving: loopDelay.read(),
            webhooks: webhooks(),
            fired: fired(),
            queues: await queues(),
            streams: streams(),
          },
          Date.now(),
        ),
    },
    observer: { ...metrics.webhooks, turned: health.turned },
    answered: metrics.http.answered,
    close: loopDelay.close,
  };
}

/** Undefined when the answer does not come in time. */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ANSWER_TIMEOUT_MS);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
