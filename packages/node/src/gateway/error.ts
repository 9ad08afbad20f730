/** Refusals of calls from other machines: the call was not executed. */
import { CodedError } from "../platform/coded-error.ts";

export type GatewayErrorCode =
  /** Too many calls from other machines are open; retry in a moment. */
  | "GATEWAY_FULL"
  /** The deadline of the call passed before it began. */
  | "GATEWAY_LATE";

export class GatewayError extends CodedError<GatewayErrorCode> {
  constructor(code: GatewayErrorCode, message: string) {
    super(code, message, { isRetryable: true });
  }
}
