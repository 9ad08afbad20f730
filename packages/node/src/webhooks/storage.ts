/** Database port of the webhook service. `sqlite/` implements it. */
import type { DeliveryQueue } from "./delivery-queue.ts";
import type { Intake } from "./intake.ts";
import type { RegisterStorage } from "./register/rows.ts";

export type WebhookStorage = {
  /** The nethash of the chain. */
  readonly network: string;
  readonly queue: DeliveryQueue;
  readonly intake: Intake;
  readonly register: RegisterStorage;
};
