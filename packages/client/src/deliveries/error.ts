/** Reasons why a delivery is refused. */

export type DeliveryErrorType =
  /** A header that the scheme needs is missing, or occurs more than once. */
  | { readonly code: "DELIVERY_HEADER_MISSING"; readonly header: string }
  /** `webhook-timestamp` is not an integer of seconds. */
  | { readonly code: "DELIVERY_TIMESTAMP_INVALID"; readonly timestamp: string }
  /** No signature is valid: another sender, another secret, or a changed body. */
  | { readonly code: "DELIVERY_SIGNATURE_WRONG" }
  /** The `Authorization` header is not the first half of the secret. */
  | { readonly code: "DELIVERY_AUTHORIZATION_WRONG" }
  /** Signed by the node, but too long ago: a copy of an old delivery, or a clock that is wrong. */
  | { readonly code: "DELIVERY_TOO_OLD"; readonly ageMs: number; readonly toleranceMs: number }
  /** Signed by the node, but in the future: one of the clocks is wrong. */
  | { readonly code: "DELIVERY_TOO_NEW"; readonly ageMs: number; readonly toleranceMs: number }
  /** The delivery comes from the node, but its body is invalid: `field` is missing or has another type. */
  | { readonly code: "DELIVERY_BODY_INVALID"; readonly field: string };

export type DeliveryErrorCode = DeliveryErrorType["code"];

/**
 * A delivery is refused; respond with 401. The node tries again later, and succeeds once the clock or the
 * secret of the receiver is corrected.
 */
export class DeliveryError extends Error {
  readonly code: DeliveryErrorCode;
  readonly type: DeliveryErrorType;
  /** The same request is refused again; the node sends another attempt by itself. */
  readonly isRetryable = false;

  constructor(type: DeliveryErrorType, message: string) {
    super(message);
    this.name = "DeliveryError";
    this.code = type.code;
    this.type = type;
  }
}
