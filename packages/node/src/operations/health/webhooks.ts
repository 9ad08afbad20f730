/** Checks of the webhook service: its matcher, and its dispatcher. */
import type { WebhookFigures } from "../../webhooks/figures.ts";

export type Check = { readonly ok: boolean; readonly detail: string };

export type WebhookChecks = {
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
