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

type Health = {
  /** Returns true if the process works at all; if not, a restart may help. */
  live(): Check;
  ready(): Promise<Readiness>;
  /** Called after each round of the dispatcher: see `WebhookObserver`. */
  runEnded(error?: unknown): void;
};

const MEBIBYTE = 1_048_576;
/** Number of blocks by which a node may lag; beyond that it is catching up, and not ready. */
const MAX_BLOCKS_BEHIND = 10;

export function createHealth(deps: HealthDeps): Health {
  const { status, damage = () => undefined, webhooks, nowMs } = deps;
  const ofWebhooks = createWebhookChecks(nowMs);

  return {
    live: () => checkHeartbeat(deps),
    async ready() {
      const heartbeat = checkHeartbeat(deps);
      const node = heartbeat.ok ? await status() : undefined;
      const damaged = damage();
      const figures = await webhooks?.();
      const checks = {
        consensus: heartbeat.ok ? checkConsensus(node) : heartbeat,
        disk: checkDisk(deps),
        ...(damaged !== undefined && { database: unhealthy(`damaged: ${damaged}`) }),
        ...(node && { chain: checkChain(node) }),
        ...(figures && {
          matcher: ofWebhooks.matcher(figures),
          dispatcher: ofWebhooks.dispatcher(),
        }),
      };
      return { isReady: Object.values(checks).every(({ ok }) => ok), checks };
    },
    runEnded: ofWebhooks.runEnded,
  };
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

function checkChain({ blocksCount, now: height, futureHead }: NodeStatus): Check {
  if (futureHead !== undefined) return unhealthy(futureHead);
  return blocksCount > MAX_BLOCKS_BEHIND
    ? unhealthy(`${blocksCount} blocks behind the network`)
    : healthy(`at height ${height}`);
}

export type Check = { readonly ok: boolean; readonly detail: string };

/** Checks of the webhook service: its matcher, and its dispatcher. */
type WebhookChecks = {
  matcher(figures: WebhookFigures): Check;
  dispatcher(): Check;
  /** Called after each round of the dispatcher: see `WebhookObserver`. */
  runEnded(error?: unknown): void;
};

/** An event that is unmatched for longer means that the matcher has failed or is overloaded. */
const MAX_LAG_MS = 30_000;
/** Time after which a failing dispatcher counts as unhealthy: it does not recover automatically. */
const MAX_TROUBLE_MS = 10_000;

export function createWebhookChecks(nowMs: () => number): WebhookChecks {
  /** First of the consecutive failures of the dispatcher. */
  let trouble: { readonly sinceMs: number; readonly message: string } | undefined;
  return {
    matcher({ unmatched, unmatchedSinceMs }) {
      const lagMs = unmatchedSinceMs === undefined ? 0 : nowMs() - unmatchedSinceMs;
      return lagMs > MAX_LAG_MS
        ? unhealthy(`${unmatched} events not matched, the oldest for ${Math.round(lagMs / 1_000)} s`)
        : healthy(`${unmatched} events not matched`);
    },
    dispatcher() {
      const troubleMs = trouble ? nowMs() - trouble.sinceMs : 0;
      return trouble && troubleMs > MAX_TROUBLE_MS
        ? unhealthy(`has been failing for ${Math.round(troubleMs / 1_000)} s: ${trouble.message}`)
        : healthy("runs");
    },
    runEnded(error) {
      if (error === undefined) trouble = undefined;
      else trouble ??= { sinceMs: nowMs(), message: (error as Error).message };
    },
  };
}

export const healthy = (detail: string): Check => ({ ok: true, detail });
export const unhealthy = (detail: string): Check => ({ ok: false, detail });
