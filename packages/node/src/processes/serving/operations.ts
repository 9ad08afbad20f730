/** Composes metrics and health from every part of the serving thread and from the node. */
import type { Gateway } from "../../gateway/gateway.ts";
import type { SessionFigures } from "../../http/console/sessions.ts";
import { createHealth } from "../../operations/health/health.ts";
import type { Operations } from "../../operations/http/routes.ts";
import type { CallsByThread } from "../../operations/metrics/calls.ts";
import type { ConnectionsOfListeners } from "../../operations/metrics/connections.ts";
import { createMetrics, type Metrics } from "../../operations/metrics/metrics.ts";
import { createSharedAnswer } from "../../operations/shared-answer.ts";
import { measureLoopDelay } from "../../platform/lifecycle/loop-delay.ts";
import { PROTOCOL_VERSION, programVersion } from "../../platform/lifecycle/version.ts";
import { CallError } from "../../platform/threads/error.ts";
import type { Database } from "../../store/engine/database.ts";
import type { Writes } from "../../store/engine/writes.ts";
import type { StreamFigures } from "../../stream/stream.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/observer.ts";
import { totalOf } from "../../webhooks/figures.ts";
import type { WebhookObserver } from "../../webhooks/observer.ts";
import { createSqliteFigures } from "../../webhooks/sqlite/figures.ts";
import type { InspectorFigures } from "./inspector.ts";

export type OperationsDeps = {
  /** A read-only connection. */
  readonly database: Database;
  readonly gateway: Pick<Gateway, "figures" | "status">;
  /** Returns the calls to other threads, by thread name. */
  readonly calls: () => CallsByThread;
  readonly streams: () => StreamFigures;
  readonly connections: () => ConnectionsOfListeners;
  readonly sessions: () => SessionFigures;
  readonly areWebhooksOn: boolean;
  readonly consensusSilentSeconds: () => number;
  /** Returns the number of log lines that this thread lost. */
  readonly logLinesLost: () => number;
  readonly writes: Pick<Writes, "trouble" | "failures">;
  /** Returns the free bytes on the disk of the data folder. */
  readonly freeBytes: () => number | undefined;
  readonly inspections: () => InspectorFigures;
};

/** Timeout of calls to the consensus thread. */
const ANSWER_TIMEOUT_MS = 2_000;
/** Time for which a result is reused: less than the interval of any monitoring. */
const REUSE_MS = 1_000;

export function createOperations({
  database,
  gateway,
  calls,
  streams,
  connections,
  sessions,
  areWebhooksOn,
  consensusSilentSeconds,
  logLinesLost,
  writes,
  freeBytes,
  inspections,
}: OperationsDeps): {
  readonly operations: Operations;
  /** Called with what happens. */
  readonly observer: WebhookObserver;
  readonly matching: MatchingObserver;
  readonly answered: Metrics["http"]["answered"];
  close(): void;
} {
  const version = programVersion();
  const metrics = createMetrics(version);
  const loopDelay = measureLoopDelay();
  const figures = createSqliteFigures(database);
  const status = shared(() => inTime(gateway.status()));
  const health = createHealth({
    status,
    consensusSilentSeconds,
    writeTrouble: writes.trouble,
    freeBytes,
    damage: () => inspections().damage,
    webhooks: areWebhooksOn ? figures.webhooks : undefined,
    nowMs: Date.now,
  });
  const ready = shared(health.ready);

  return {
    operations: {
      live: health.live,
      ready,
      status: shared(async () => ({
        version,
        protocol: PROTOCOL_VERSION,
        uptimeSeconds: Math.round(process.uptime()),
        ...(await ready()),
        node: (await status()) ?? null,
        webhooks: { ...(await figures.webhooks()), queues: totalOf((await figures.queues()).values()) },
        streams: streams(),
      })),
      metricsType: metrics.contentType,
      metrics: shared(async () =>
        metrics.page(
          {
            node: await inTime(gateway.figures()),
            serving: loopDelay.read(),
            webhooks: await figures.webhooks(),
            fired: await figures.fired(),
            queues: await figures.queues(),
            calls: calls(),
            streams: streams(),
            connections: connections(),
            sessions: sessions(),
            process: {
              logLinesLost: logLinesLost(),
              failedWrites: writes.failures(),
              freeBytes: freeBytes(),
              inspections: inspections(),
            },
          },
          Date.now(),
        ),
      ),
    },
    observer: { ...metrics.webhooks, runEnded: health.runEnded },
    matching: metrics.matching,
    answered: metrics.http.answered,
    close: loopDelay.close,
  };
}

/** Shares one result among all callers within a second. */
export const shared = <T>(make: () => Promise<T>): (() => Promise<T>) =>
  createSharedAnswer(make, REUSE_MS, () => performance.now());

/** Settles with undefined if the result of another thread fails or is late. */
export async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ANSWER_TIMEOUT_MS);
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    if (error instanceof CallError) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
