/** Failures of calls. Errors cross a transport as code and message, because classes do not survive it. */
import { CodedError } from "../platform/coded-error.ts";
import { CallError, isCallErrorCode } from "../platform/threads/call.ts";
import { BodyError } from "./gateway.ts";

export type Failure = { readonly code?: string; readonly message: string };

/** Maximum length of an error message; some quote the input. */
const MAX_MESSAGE_LENGTH = 1_000;

/** Returns code and message of a thrown value. */
export function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { message: `a value of type ${typeof thrown} was thrown` };
  const { code } = thrown as { code?: unknown };
  return {
    ...(typeof code === "string" && { code }),
    message: String(thrown.message).slice(0, MAX_MESSAGE_LENGTH),
  };
}

/** Returns an error with code and message of a failure. Restores the two classes for which callers of the gateway test. */
export function toError({ code, message }: Failure): Error {
  if (code === "BODY_SCHEMA") return new BodyError(message);
  if (isCallErrorCode(code)) return new CallError(code, message);
  return Object.assign(new Error(message), { code });
}

type GatewayErrorCode =
  /** Too many calls from other machines are open; retry in a moment. */
  | "GATEWAY_FULL"
  /** The deadline of the call passed before it began. */
  | "GATEWAY_LATE";

/** Refusal of a call from another machine: the call was not executed. */
export class GatewayError extends CodedError<GatewayErrorCode> {
  constructor(code: GatewayErrorCode, message: string) {
    super(code, message, { isRetryable: true });
  }
}

/** Next steps of an operator whose mirror or API server is refused by a node, by the status of the response. */
export const REFUSAL_STEPS: Readonly<Record<number, string>> = {
  401: 'give the webhook token of the node with --token ("uniknode token" prints it)',
  403: "add the address of this machine to --feed-allow of the node",
  404: "start the node with --feed-blocks",
};
