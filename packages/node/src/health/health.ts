/** Whether the node does its work, for those who start it anew or send it clients. */
import type { NodeStatus } from "../serving/gateway.ts";
import type { WebhookFigures } from "../store/webhook-figures.ts";

export type Check = { readonly ok: boolean; readonly detail: string };

export type Readiness = { readonly isReady: boolean; readonly checks: Readonly<Record<string, Check>> };

export type HealthDeps = {
  /** Undefined when the thread of consensus does not answer in time. */
  readonly status: () => Promise<NodeStatus | undefined>;
  /** Undefined: webhooks are off. */
  readonly webhooks: (() => WebhookFigures) | undefined;
  readonly nowMs: () => number;
};

export type Health = {
  ready(): Promise<Readiness>;
  /** A turn of the dispatcher has ended: see `WebhookObserver`. */
  turned(error?: unknown): void;
};

/** A node this far behind the network is busy with catching up. */
const MAX_BLOCKS_BEHIND = 10;
/** An event that nobody looked at for so long says that the matcher is dead, or drowning. */
const MAX_LAG_MS = 30_000;
/** A dispatcher that fails for so long does not come back by itself. */
const MAX_TROUBLE_MS = 10_000;

export function createHealth({ status, webhooks, nowMs }: HealthDeps): Health {
  let trouble: { readonly sinceMs: number; readonly message: string } | undefined;

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
    async ready() {
      const node = await status();
      const checks = {
        consensus: checkConsensus(node),
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
