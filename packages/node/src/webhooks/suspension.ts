/** Suspends a webhook until it is updated or its target responds to a ping (webhooks.md 10 point 6). */
import type { Logger } from "pino";
import type { Intake } from "./intake.ts";

/** Suspends a webhook; the register shows the reason. Must be called inside a transaction. */
export type Suspend = (webhook: number, reason: string, atMs: number) => void;

export type SuspensionDeps = {
  readonly intake: Pick<Intake, "suspend">;
  readonly logger: Pick<Logger, "info">;
};

export function createSuspend({ intake, logger }: SuspensionDeps): Suspend {
  return (webhook, reason, atMs) => {
    intake.suspend(webhook, reason, atMs);
    logSuspension(logger, webhook, reason);
  };
}

export function logSuspension(logger: Pick<Logger, "info">, webhook: number, reason: string): void {
  logger.info({ webhook, reason }, "webhook suspended until it is updated or a ping succeeds");
}
