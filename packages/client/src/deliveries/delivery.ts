/** The content of a delivery (webhooks.md 7.1, 10). */
import { DeliveryError } from "./error.ts";

/** The body of a delivery. */
export type Delivery = {
  /**
   * Id of the fact and the webhook: the same in every attempt and in every replay. Store the ids that you
   * have handled.
   */
  readonly id: string;
  /** Name of the event; `ping` for a test. */
  readonly event: string;
  /**
   * Time of the block that the event is a fact of, also in its retraction, milliseconds since 1970; of other events, the time
   * at which the node logged them.
   */
  readonly timestamp: number;
  /**
   * Content of the event, as docs/reference/events.md describes it; a few events have none. Amounts are
   * decimal text.
   */
  readonly data?: unknown;
  readonly webhookId: number;
  /** Height of the block that the event is about. */
  readonly height?: number;
  readonly blockId?: string;
  /** The content is too large to be sent: `data` has only the members that identify it. */
  readonly truncated?: true;
  /** Path of the complete content if it is truncated, below the base URL of the node; absent if there is none. */
  readonly link?: string;
  /** Id of the delivery that this one retracts, after a reorganisation. */
  readonly reverts?: string;
  /** Proof of the fact, or a link to it, if the webhook has proofs: `verifyDelivery` of @uniknode/client/proofs verifies it. */
  readonly proof?: unknown;
};

const FIELDS: Readonly<
  Record<Exclude<keyof Delivery, "data" | "truncated" | "proof">, { type: string; isOptional?: true }>
> = {
  id: { type: "string" },
  event: { type: "string" },
  timestamp: { type: "number" },
  webhookId: { type: "number" },
  height: { type: "number", isOptional: true },
  blockId: { type: "string", isOptional: true },
  reverts: { type: "string", isOptional: true },
  link: { type: "string", isOptional: true },
};

/**
 * Reads a verified body; unknown members are kept.
 *
 * @throws {DeliveryError} DELIVERY_BODY_INVALID
 */
export function readDelivery(text: string): Delivery {
  const body = parse(text);
  for (const [field, { type, isOptional }] of Object.entries(FIELDS)) {
    const value = body[field];
    if (typeof value !== type && !(isOptional && value === undefined)) throw invalid(field);
  }
  return body as Delivery;
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw invalid("body");
}

const invalid = (field: string) =>
  new DeliveryError({ code: "DELIVERY_BODY_INVALID", field }, `"${field}" is missing or has the wrong type`);
