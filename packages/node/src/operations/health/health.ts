/** Whether the node does its work, for those who start it anew or send it clients. */
import type { NodeStatus } from "../../gateway/gateway.ts";
import { MAX_SILENT_SECONDS } from "../../platform/lifecycle/heartbeats.ts";
import type { WebhookFigures } from "../../store/webhooks/webhook-figures.ts";

export type Check = { readonly ok: boolean; readonly detail: string };

export type Readiness = { readonly isReady: boolean; readonly checks: Readonly<Record<string, Check>> };

export type HealthDeps = {
  /** Undefined when the thread of consensus does not answer in time. */
  readonly status: () => Promise<NodeStatus | undefined>;
  /** Seconds since the thread of consensus was seen to turn. */
  readonly consensusSilentSeconds: () => number;
  /** Why the last write to the database failed, if it did. */
  readonly writeTrouble: () => string | undefined;
  /** Of the disk of the data; undefined while that is not known. */
  readonly freeBytes: () => number | undefined;
  /** Undefined: webhooks are off. */
  readonly webhooks: (() => WebhookFigures) | undefined;
  readonly nowMs: () => number;
};

export type Health = {
  /** Whether the process does its work at all: started anew, it might. */
  live(): Check;
  ready(): Promise<Readiness>;
  /** A turn of the dispatcher has ended: see `WebhookObserver`. */
  turned(error?: unknown): void;
};

const MEBIBYTE = 1_048_576;
/** A node this far behind the network is busy with catching up. */
const MAX_BLOCKS_BEHIND = 10;
/** An event that nobody looked at for so long says that the matcher is dead, or drowning. */
const MAX_LAG_MS = 30_000;
/** A dispatcher that fails for so long does not come back by itself. */
const MAX_TROUBLE_MS = 10_000;

export function createHealth({
  status,
  consensusSilentSeconds,
  writeTrouble,
  freeBytes,
  webhooks,
  nowMs,
}: HealthDeps): Health {
  let trouble: { readonly sinceMs: number; readonly message: string } | undefined;

  function checkTurning(): Check {
    const seconds = consensusSilentSeconds();
    return seconds < MAX_SILENT_SECONDS ? well("turns") : ill(`has not turned for ${seconds} s`);
  }

  function checkDisk(): Check {
    const free = freeBytes();
    const left = free === undefined ? "" : `${Math.floor(free / MEBIBYTE)} MiB free`;
    const trouble = writeTrouble();
    if (trouble === undefined) return well(left || "is written");
    return ill(["nothing can be written", trouble, left].filter(Boolean).join(": "));
  }

  function checkConsensus(node: NodeStatus | undefined): Check {
    return node ? well("answers") : ill("does not answer");
  }

  function checkChain({ blocksCount, now: height }: NodeStatus): Check {
    return blocksCount > MAX_BLOCKS_BEHIND
      ? ill(`${blocksCount} blocks behind the network`)
      : well(`at height ${height}`);
  }

  function checkMatcher({ unmatched, unmatchedSinceMs }: WebhookFigures): Check {
    const lagMs = unmatchedSinceMs === undefined ? 0 : nowMs() - unmatchedSinceMs;
    return lagMs > MAX_LAG_MS
      ? ill(`${unmatched} events wait, the oldest for ${Math.round(lagMs / 1_000)} s`)
      : well(`${unmatched} events wait`);
  }

  function checkDispatcher(): Check {
    return trouble && nowMs() - trouble.sinceMs > MAX_TROUBLE_MS
      ? ill(`held up for ${Math.round((nowMs() - trouble.sinceMs) / 1_000)} s: ${trouble.message}`)
      : well("runs");
  }

  return {
    live: checkTurning,
    async ready() {
      const turning = checkTurning();
      const node = turning.ok ? await status() : undefined;
      const checks = {
        consensus: turning.ok ? checkConsensus(node) : turning,
        disk: checkDisk(),
        ...(node && { chain: checkChain(node) }),
        ...(webhooks && { matcher: checkMatcher(webhooks()), dispatcher: checkDispatcher() }),
      };
      return { isReady: Object.values(checks).every(({ ok }) => ok), checks };
    },
    turned(error) {
      if (error === undefined) trouble = undefined;
      else trouble ??= { sinceMs: nowMs(), message: (error as Error).message };
    },
  };
}

const well = (detail: string): Check => ({ ok: true, detail });
const ill = (detail: string): Check => ({ ok: false, detail });
