/** Programs around a node: receivers of its webhooks, and clients of its API. */

export type { Delivery } from "./deliveries/delivery.ts";
export { DeliveryError, type DeliveryErrorCode, type DeliveryErrorType } from "./deliveries/error.ts";
export type { DeliveryHeaders } from "./deliveries/headers.ts";
export {
  type ReceivedDelivery,
  type VerifyOptions,
  verifyDelivery,
} from "./deliveries/verify.ts";
