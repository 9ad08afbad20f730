/** Composes metrics, health and the views of operators from every part of the serving thread and from the node. */
import type { RemoteProcesses } from "../../gateway/remote-processes.ts";
import type { SessionFigures } from "../../http/console/sessions.ts";
import { type Check, Health, type Readiness } from "../../operations/health.ts";
import type { Operator } from "../../operations/http/operator.ts";
import type { Operations } from "../../operations/http/server.ts";
import type { ConnectionsOfListeners } from "../../operations/metrics/http.ts";
import { type Figures, Metrics } from "../../operations/metrics/metrics.ts";
import { readOverview } from "../../operations/overview.ts";
import { Sampling, Series, sampleRegularly } from "../../operations/series.ts";
import { shared } from "../../operations/shared-result.ts";
import { LoopDelayMonitor } from "../../platform/lifecycle/event-loop.ts";
import { PROTOCOL_VERSION, programVersion } from "../../platform/lifecycle/program.ts";
import { CallError, type CallFigures } from "../../platform/threads/call.ts";
import type { StreamFigures } from "../../stream/stream.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import { totalOf } from "../../webhooks/figures.ts";
import type { ServingContext, Sources } from "./sources.ts";

/** Figures of the other parts, most of which are built after the metrics. */
type LaterFigures = {
  readonly sessions: () => SessionFigures;
  readonly streams: () => StreamFigures;
  /** Returns the calls to the worker for slow queries. */
  readonly slowCalls: () => CallFigures;
  readonly connections: () => ConnectionsOfListeners;
  /** Returns the number of open connections to NATS servers. */
  readonly natsConnections: () => number;
  /** Returns false while this node does not own the webhooks: no event is matched. */
  readonly isDelivering: () => boolean;
};

/** Timeout of calls to the consensus thread. */
const CALL_TIMEOUT_MS = 2_000;

export class ServingOperations implements Operations {
  /** Observes the webhook service, for metrics and health. */
  readonly observer: WebhookObserver;
  readonly matching: MatchingObserver;
  readonly http: Metrics["http"];
  readonly metricsType: string;
  readonly ready: () => Promise<Readiness>;
  readonly status: () => Promise<object>;
  readonly metrics: () => Promise<string>;
  readonly #health: Health;

  constructor(context: ServingContext, sources: Sources, later: LaterFigures) {
    const version = programVersion();
    const metrics = new Metrics(version);
    const loopDelay = new LoopDelayMonitor();
    context.closing.add("measuring", () => loopDelay.close());
    const { deliveryFigures: figures, state } = sources;
    const nodeStatus = shared(() => inTime(context.gateway.status()));
    const health = new Health({
      status: nodeStatus,
      consensusSilentSeconds: context.consensusSilentSeconds,
      writeTrouble: () => state.trouble(),
      freeBytes: state.freeBytes,
      damage: state.damage,
      webhooks: sources.webhooks && (async () => (later.isDelivering() ? figures.webhooks() : undefined)),
      nowMs: Date.now,
    });
    this.#health = health;
    this.observer = { ...metrics.webhooks, runEnded: (error) => health.runEnded(error) };
    this.matching = metrics.matching;
    this.http = metrics.http;
    this.metricsType = metrics.contentType;
    this.ready = shared(() => health.ready());
    this.status = shared(async () => ({
      version,
      protocol: PROTOCOL_VERSION,
      uptimeSeconds: Math.round(process.uptime()),
      ...(await this.ready()),
      node: (await nodeStatus()) ?? null,
      webhooks: { ...(await figures.webhooks()), queues: totalOf((await figures.queues()).values()) },
      streams: later.streams(),
    }));
    this.metrics = shared(async () =>
      metrics.page(await readFigures({ context, sources, later, loopDelay }), Date.now()),
    );
  }

  live(): Check {
    return this.#health.live();
  }
}

type FigureSources = {
  readonly context: ServingContext;
  readonly sources: Sources;
  readonly later: LaterFigures;
  readonly loopDelay: LoopDelayMonitor;
};

async function readFigures({ context, sources, later, loopDelay }: FigureSources): Promise<Figures> {
  const { deliveryFigures: figures } = sources;
  return {
    node: await inTime(sources.nodeFigures()),
    serving: loopDelay.read(),
    webhooks: await figures.webhooks(),
    fired: await figures.fired(),
    queues: await figures.queues(),
    calls: { consensus: context.gatewayCalls(), slow: later.slowCalls() },
    streams: later.streams(),
    feed: sources.feed?.figures(),
    remoteCalls: sources.remoteCalls?.figures(),
    connections: later.connections(),
    natsConnections: later.natsConnections(),
    sessions: later.sessions(),
    process: { logLinesLost: context.logLinesLost(), ...sources.state.figures() },
  };
}

/** Resolves to undefined if the result of another thread fails or is late. */
async function inTime<T>(result: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), CALL_TIMEOUT_MS);
  try {
    return await Promise.race([result, late]);
  } catch (error) {
    if (error instanceof CallError) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

type OperatorDeps = {
  readonly ready: Operations["ready"];
  /** Returns the number of open live streams. */
  readonly streams: () => number;
  /** Mirrors, API servers and delivery workers that use this node. */
  readonly processes: () => ReturnType<RemoteProcesses["list"]>;
};

const SAMPLE_EVERY_SECONDS = 10;
/** Six hours. */
const SAMPLES = 2_160;

/** Builds the views besides health and metrics: the state of each part, the series of figures, the options. */
export function buildOperator(
  { data, gateway, slots, timestampOf, closing, logger }: ServingContext,
  { operatorRows: rows, deliveryFigures, state }: Sources,
  deps: OperatorDeps,
): Operator {
  const { forgers = [], shownOptions = [] } = data;
  const report = () => inTime(gateway.report());
  const sources = { ...deps, report, rows, state, freeBytes: state.freeBytes };
  const series = new Series(SAMPLES);
  const sampling = new Sampling({
    ...sources,
    series,
    transactions: () => rows.transactions(),
    deliveries: deliveryFigures,
    usage: () => {
      const { user, system } = process.cpuUsage();
      return { residentBytes: process.memoryUsage.rss(), processorMicroseconds: user + system };
    },
    nowMs: Date.now,
  });
  const timer = sampleRegularly(
    () => sampling.sample(),
    SAMPLE_EVERY_SECONDS * 1_000,
    (err) => logger.error({ err }, "failed to sample metrics"),
  );
  closing.add("sampling", timer.close);

  return {
    overview: shared(() =>
      readOverview({
        ...sources,
        slotTime: slots.slotTime,
        nowMs: Date.now,
        timestampOf,
        version: programVersion(),
        protocol: PROTOCOL_VERSION,
        forgers,
      }),
    ),
    series,
    seriesIntervalSeconds: SAMPLE_EVERY_SECONDS,
    options: shownOptions,
  };
}
