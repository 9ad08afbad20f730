/** Health and metrics of a delivery worker. */
import type { ConnectionFigures as HttpConnections } from "../../http/connections/connections.ts";
import { healthy, type Readiness, unhealthy, WebhookChecks } from "../../operations/health.ts";
import type { Operations } from "../../operations/http/server.ts";
import { createConnectionMetrics } from "../../operations/metrics/http.ts";
import { Registry } from "../../operations/metrics/instruments.ts";
import { createWorkerMetrics, type WorkerFigures } from "../../operations/metrics/other-processes.ts";
import { createThreadMetrics, createUsageMetrics } from "../../operations/metrics/process.ts";
import {
  createMatchingMetrics,
  EachWebhook,
  type FiguresByWebhook,
  WebhookMetrics,
} from "../../operations/metrics/webhooks.ts";
import { shared } from "../../operations/shared-result.ts";
import type { LoopDelay } from "../../platform/lifecycle/event-loop.ts";
import { programVersion } from "../../platform/lifecycle/program.ts";
import type { Postgres } from "../../postgres/connection.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import type { DeliveryFigures, WebhookFigures } from "../../webhooks/figures.ts";
import type { OwnerState } from "../../webhooks/hand-over/owner.ts";
import { readOwner } from "../../webhooks/postgres/hand-over/owner.ts";
import type { DeliveryQueue } from "../../webhooks/storage/delivery-queue.ts";
import { WAITING } from "./database.ts";

type WorkerOperationsDeps = {
  /** Name of the worker in the database. */
  readonly worker: string;
  readonly postgres: Pick<Postgres, "query" | "connections">;
  readonly queue: Pick<DeliveryQueue, "webhooks" | "ownership">;
  readonly figures: DeliveryFigures;
  readonly loopDelay: () => LoopDelay;
  /** Returns the connections to the listener of health and metrics. */
  readonly connections: () => HttpConnections;
  /** Returns the number of open connections to NATS servers. */
  readonly natsConnections: () => number;
};

type WorkerOperations = {
  readonly operations: Operations;
  readonly observer: WebhookObserver;
  readonly matching: MatchingObserver;
};

export function createWorkerOperations(deps: WorkerOperationsDeps): WorkerOperations {
  const version = programVersion();
  const metrics = createMetrics(version);
  const checks = new WebhookChecks(Date.now);
  const state = shared(() => readState(deps));
  const ready = async () => toReadiness(await state(), deps, checks);
  return {
    operations: {
      live: () => healthy("responds"),
      ready,
      async status() {
        const uptimeSeconds = Math.round(process.uptime());
        return { version, worker: deps.worker, uptimeSeconds, ...(await ready()) };
      },
      metricsType: metrics.contentType,
      metrics: shared(async () => metrics.page(await state(), deps)),
    },
    observer: { ...metrics.observer, runEnded: (error) => checks.runEnded(error) },
    matching: metrics.matching,
  };
}

/** State of the database; an error if it cannot be read. */
type State =
  | (FiguresByWebhook & {
      readonly owner: OwnerState;
      readonly shards: number;
      readonly webhooks: WebhookFigures;
    })
  | Error;

async function readState({ worker, postgres, queue, figures }: WorkerOperationsDeps): Promise<State> {
  try {
    const [{ state: owner }, owned, webhooks, fired, queues, [row]] = await Promise.all([
      readOwner(postgres.query),
      queue.webhooks(),
      figures.webhooks(),
      figures.fired(),
      figures.queues(),
      postgres.query<{ shards: string }>("SELECT count(*) AS shards FROM shards WHERE owner = $1", [worker]),
    ]);
    return {
      owner,
      shards: Number(row?.shards),
      webhooks,
      fired: pick(fired, owned),
      queues: pick(queues, owned),
    };
  } catch (error) {
    return error as Error;
  }
}

/** Other workers report the webhooks that they own. */
const pick = <T>(figures: ReadonlyMap<number, T>, owned: readonly number[]): ReadonlyMap<number, T> =>
  new Map(
    owned.flatMap((webhook) => {
      const figure = figures.get(webhook);
      return figure === undefined ? [] : [[webhook, figure]];
    }),
  );

function toReadiness(state: State, { queue }: WorkerOperationsDeps, webhookChecks: WebhookChecks): Readiness {
  const leaseSeconds = Math.floor(queue.ownership.remainingMs() / 1_000);
  const checks = {
    database: state instanceof Error ? unhealthy(state.message) : healthy(ownershipText(state)),
    lease: leaseSeconds > 0 ? healthy(`ends in ${leaseSeconds} s`) : unhealthy("has ended: no call starts"),
    // While another side owns the webhooks, it matches the events.
    ...(!(state instanceof Error) &&
      state.owner === "workers" && { matcher: webhookChecks.matcher(state.webhooks) }),
    dispatcher: webhookChecks.dispatcher(),
  };
  return { isReady: Object.values(checks).every(({ ok }) => ok), checks };
}

const ownershipText = ({ owner, shards }: Exclude<State, Error>): string =>
  owner === "workers" ? `owns ${shards} of 32 shards` : WAITING[owner];

function createMetrics(version: string) {
  const registry = new Registry();
  const showUsage = createUsageMetrics(registry, version);
  const showThread = createThreadMetrics(registry);
  const showWorker = createWorkerMetrics(registry);
  const webhooks = new WebhookMetrics(registry);
  const eachWebhook = new EachWebhook();
  const showConnections = createConnectionMetrics(registry);
  return {
    observer: {
      attempted: (attempted) => webhooks.attempted(attempted),
      decided: (webhook, decision) => eachWebhook.decided(webhook, decision),
    } satisfies Partial<WebhookObserver>,
    matching: createMatchingMetrics(registry),
    contentType: registry.contentType,
    async page(state: State, deps: WorkerOperationsDeps): Promise<string> {
      const nowMs = Date.now();
      showUsage();
      showThread("delivery", process.memoryUsage().heapUsed, deps.loopDelay());
      showConnections({ operations: deps.connections() });
      showWorker(toWorkerFigures(state, deps));
      if (state instanceof Error) return registry.metrics();
      webhooks.show(state.webhooks, deps.natsConnections(), nowMs);
      return `${await registry.metrics()}\n${eachWebhook.text(state, nowMs)}`;
    },
  };
}

const toWorkerFigures = (state: State, { queue, postgres }: WorkerOperationsDeps): WorkerFigures => ({
  isDatabaseUp: !(state instanceof Error),
  // While another side owns the webhooks, nothing is missing.
  shards: state instanceof Error || state.owner !== "workers" ? undefined : state.shards,
  leaseMs: queue.ownership.remainingMs(),
  connections: postgres.connections(),
});
