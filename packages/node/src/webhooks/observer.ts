/** What the webhook service tells those who measure it. Called often: nothing slow may hang on it. */
import type { Attempted } from "./delivery/attempt.ts";

export type Outcome = "delivered" | "retried" | "dead";

export type WebhookObserver = {
  /** A call to a target has ended, whatever it brought. */
  attempted(attempted: Attempted): void;
  /** What follows from an attempt: the delivery is done, another attempt comes, or it is given up. */
  decided(webhook: number, outcome: Outcome): void;
  /** A turn of the dispatcher has ended: well, or with an error that holds everything up. */
  runEnded(error?: unknown): void;
};

export const NO_WEBHOOK_OBSERVER: WebhookObserver = { attempted() {}, decided() {}, runEnded() {} };
