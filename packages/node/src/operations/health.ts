/** Health checks: liveness for supervisors that restart the process, readiness for load balancers. */
import type { NodeStatus } from "../gateway/gateway.ts";
import { MAX_SILENT_SECONDS } from "../platform/lifecycle/event-loop.ts";
import type { WebhookFigures } from "../webhooks/figures.ts";

export type Readiness = { readonly isReady: boolean; readonly checks: Readonly<Record<string, Check>> };

type HealthDeps = {
  /** Resolves to undefined if the consensus thread does not reply in time. */
  readonly status: () => Promise<NodeStatus | undefined>;
  /** Returns the seconds since the last heartbeat of the consensus thread. */
  readonly consensusSilentSeconds: () => number;
  /** Returns the error of the last write to the database; undefined when it succeeded. */
  readonly writeTrouble: () => string | undefined;
  /** Returns the free bytes of the disk with the data folder; undefined while unknown. */
  readonly freeBytes: () => number | undefined;
  /** Returns the damage that was found in the database. */
  readonly damage?: () => string | undefined;
  /** Undefined when webhooks are disabled. Resolves to undefined while another side owns them. */
  readonly webhooks: (() => Promise<WebhookFigures | undefined>) | undefined;
  readonly nowMs: () => number;
};

const MEBIBYTE = 1_048_576;
/** Number of blocks by which a node may lag; beyond that it is catching up, and not ready. */
const MAX_BLOCKS_BEHIND = 10;

export class Health {
  readonly #deps: HealthDeps;
  readonly #ofWebhooks: WebhookChecks;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
    this.#ofWebhooks = new WebhookChecks(deps.nowMs);
  }

  /** Returns true if the process works at all; if not, a restart may help. */
  live(): Check {
    return checkHeartbeat(this.#deps);
  }

  async ready(): Promise<Readiness> {
    const { status, damage, webhooks } = this.#deps;
    const heartbeat = this.live();
    const node = heartbeat.ok ? await status() : undefined;
    const damaged = damage?.();
    const figures = await webhooks?.();
    const checks = {
      consensus: heartbeat.ok ? checkConsensus(node) : heartbeat,
      disk: checkDisk(this.#deps),
      ...(damaged !== undefined && { database: unhealthy(`damaged: ${damaged}`) }),
      ...(node && { chain: checkChain(node) }),
      ...(figures && {
        matcher: this.#ofWebhooks.matcher(figures),
        dispatcher: this.#ofWebhooks.dispatcher(),
      }),
    };
    return { isReady: Object.values(checks).every(({ ok }) => ok), checks };
  }

  /** Called after each round of the dispatcher: see `WebhookObserver`. */
  runEnded(error?: unknown): void {
    this.#ofWebhooks.runEnded(error);
  }
}

function checkHeartbeat({ consensusSilentSeconds }: HealthDeps): Check {
  const seconds = consensusSilentSeconds();
  return seconds < MAX_SILENT_SECONDS ? healthy("runs") : unhealthy(`has been blocked for ${seconds} s`);
}

function checkConsensus(node: NodeStatus | undefined): Check {
  return node ? healthy("responds") : unhealthy("does not respond");
}

function checkDisk({ freeBytes, writeTrouble }: HealthDeps): Check {
  const free = freeBytes();
  const left = free === undefined ? "" : `${Math.floor(free / MEBIBYTE)} MiB free`;
  const trouble = writeTrouble();
  if (trouble === undefined) return healthy(left || "writable");
  return unhealthy(["not writable", trouble, left].filter(Boolean).join(": "));
}

function checkChain({ blocksCount, now: height, futureHead, isIsolated }: NodeStatus): Check {
  if (futureHead !== undefined) return unhealthy(futureHead);
  if (isIsolated) return unhealthy(`at height ${height}, which is old, and no peer is known`);
  return blocksCount > MAX_BLOCKS_BEHIND
    ? unhealthy(`${blocksCount} blocks behind the network`)
    : healthy(`at height ${height}`);
}

export type Check = { readonly ok: boolean; readonly detail: string };

/** An event that is unmatched for longer means that the matcher has failed or is overloaded. */
const MAX_LAG_MS = 30_000;
/** Time after which a failing dispatcher counts as unhealthy: it does not recover automatically. */
const MAX_TROUBLE_MS = 10_000;

/** Checks of the webhook service: its matcher, and its dispatcher. */
export class WebhookChecks {
  readonly #nowMs: () => number;
  /** First of the consecutive failures of the dispatcher, by the monotonic clock: the wall clock can be set back. */
  #trouble: { readonly sinceMs: number; readonly message: string } | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  matcher({ unmatched, unmatchedSinceMs }: WebhookFigures): Check {
    const lagMs = unmatchedSinceMs === undefined ? 0 : this.#nowMs() - unmatchedSinceMs;
    return lagMs > MAX_LAG_MS
      ? unhealthy(`${unmatched} events not matched, the oldest for ${Math.round(lagMs / 1_000)} s`)
      : healthy(`${unmatched} events not matched`);
  }

  dispatcher(): Check {
    const trouble = this.#trouble;
    const troubleMs = trouble ? performance.now() - trouble.sinceMs : 0;
    return trouble && troubleMs > MAX_TROUBLE_MS
      ? unhealthy(`has been failing for ${Math.round(troubleMs / 1_000)} s: ${trouble.message}`)
      : healthy("runs");
  }

  /** Called after each round of the dispatcher: see `WebhookObserver`. */
  runEnded(error?: unknown): void {
    if (error === undefined) this.#trouble = undefined;
    else this.#trouble ??= { sinceMs: performance.now(), message: (error as Error).message };
  }
}

export const healthy = (detail: string): Check => ({ ok: true, detail });
export const unhealthy = (detail: string): Check => ({ ok: false, detail });
