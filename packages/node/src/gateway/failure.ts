/** Errors of calls, as code and message: classes do not survive a transport. */
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
