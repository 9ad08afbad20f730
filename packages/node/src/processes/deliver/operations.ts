/** Health and metrics of a delivery worker. */
import type { ConnectionFigures as HttpConnections } from "../../http/connections/connections.ts";
import { type Check, healthy, type Readiness, unhealthy, WebhookChecks } from "../../operations/health.ts";
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

export class WorkerOperations implements Operations {
  readonly observer: WebhookObserver;
  readonly matching: MatchingObserver;
  readonly metricsType: string;
  readonly metrics: () => Promise<string>;
  readonly #deps: WorkerOperationsDeps;
  readonly #checks = new WebhookChecks(Date.now);
  readonly #state: () => Promise<State>;

  constructor(deps: WorkerOperationsDeps) {
    const metrics = new WorkerMetrics(programVersion());
    this.#deps = deps;
    this.#state = shared(() => readState(deps));
    this.observer = { ...metrics.observer, runEnded: (error) => this.#checks.runEnded(error) };
    this.matching = metrics.matching;
    this.metricsType = metrics.contentType;
    this.metrics = shared(async () => metrics.page(await this.#state(), deps));
  }

  live(): Check {
    return healthy("responds");
  }

  async ready(): Promise<Readiness> {
    return toReadiness(await this.#state(), this.#deps, this.#checks);
  }

  async status(): Promise<object> {
    const uptimeSeconds = Math.round(process.uptime());
    return { version: programVersion(), worker: this.#deps.worker, uptimeSeconds, ...(await this.ready()) };
  }
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

class WorkerMetrics {
  readonly observer: Pick<WebhookObserver, "attempted" | "decided">;
  readonly matching: MatchingObserver;
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #showUsage: ReturnType<typeof createUsageMetrics>;
  readonly #showThread: ReturnType<typeof createThreadMetrics>;
  readonly #showWorker: ReturnType<typeof createWorkerMetrics>;
  readonly #webhooks: WebhookMetrics;
  readonly #eachWebhook = new EachWebhook();
  readonly #showConnections: ReturnType<typeof createConnectionMetrics>;

  constructor(version: string) {
    const registry = this.#registry;
    this.contentType = registry.contentType;
    this.#showUsage = createUsageMetrics(registry, version);
    this.#showThread = createThreadMetrics(registry);
    this.#showWorker = createWorkerMetrics(registry);
    this.#webhooks = new WebhookMetrics(registry);
    this.#showConnections = createConnectionMetrics(registry);
    this.matching = createMatchingMetrics(registry);
    this.observer = {
      attempted: (attempted) => this.#webhooks.attempted(attempted),
      decided: (webhook, decision) => this.#eachWebhook.decided(webhook, decision),
    };
  }

  async page(state: State, deps: WorkerOperationsDeps): Promise<string> {
    const nowMs = Date.now();
    this.#showUsage();
    this.#showThread("delivery", process.memoryUsage().heapUsed, deps.loopDelay());
    this.#showConnections({ operations: deps.connections() });
    this.#showWorker(toWorkerFigures(state, deps));
    if (state instanceof Error) return this.#registry.metrics();
    this.#webhooks.show(state.webhooks, deps.natsConnections(), nowMs);
    return `${await this.#registry.metrics()}\n${this.#eachWebhook.text(state, nowMs)}`;
  }
}

const toWorkerFigures = (state: State, { queue, postgres }: WorkerOperationsDeps): WorkerFigures => ({
  isDatabaseUp: !(state instanceof Error),
  // While another side owns the webhooks, nothing is missing.
  shards: state instanceof Error || state.owner !== "workers" ? undefined : state.shards,
  leaseMs: queue.ownership.remainingMs(),
  connections: postgres.connections(),
});
