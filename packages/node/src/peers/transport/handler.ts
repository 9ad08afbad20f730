/** The interface between the server and the handlers of calls. */
import { CodedError } from "../../platform/coded-error.ts";
import type { ResultOf } from "../wire/replies/results.ts";
import type { EventName } from "../wire/requests/arguments.ts";
import type { Call } from "../wire/requests/read.ts";

export type Caller = {
  /** Normalized: see `normalizeAddress`. */
  readonly address: string;
  /** True if the address matches `remoteAccess`. */
  readonly isTrusted: boolean;
};

/**
 * Handles a call and settles with its result.
 *
 * @throws {ReplyError} with the message of the reply; for other errors, the reply contains the text
 */
export type RequestHandler = (call: Call, caller: Caller) => Promise<ResultOf<EventName>>;

/** Error reply to a call; its message is part of the protocol (p2p.md 3.3). */
export class ReplyError extends CodedError<"CALL_REFUSED"> {
  constructor(message: string) {
    super("CALL_REFUSED", message, { isRetryable: false });
  }
}
