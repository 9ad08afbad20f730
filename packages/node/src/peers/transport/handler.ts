/** How the calls of others reach those who answer them. */
import type { ResultOf } from "../wire/replies/results.ts";
import type { EventName } from "../wire/requests/arguments.ts";
import type { Call } from "../wire/requests/read.ts";

export type Caller = {
  /** Plain: see `plainAddress`. */
  readonly address: string;
  /** Whether the address matches `remoteAccess`. */
  readonly isTrusted: boolean;
};

/**
 * The result of a call.
 *
 * @throws {CallError} with the message that the caller is to get; other errors are told by their text
 */
export type RequestHandler = (call: Call, caller: Caller) => Promise<ResultOf<EventName>>;

/** A call is answered with an error, whose message is part of the protocol (p2p.md 3.3). */
export class CallError extends Error {
  readonly code = "CALL_REFUSED";
  readonly isRetryable = false;
}
