/** Refusals of calls from other machines: the call was not executed. */
import { CodedError } from "../platform/coded-error.ts";

export type GatewayErrorCode =
  /** The maximum of calls from other machines is open; retry in a moment. */
  | "GATEWAY_FULL"
  /** The time of the call was over before it could begin. */
  | "GATEWAY_LATE";

export class GatewayError extends CodedError<GatewayErrorCode> {
  constructor(code: GatewayErrorCode, message: string) {
    super(code, message, { isRetryable: true });
  }
}
