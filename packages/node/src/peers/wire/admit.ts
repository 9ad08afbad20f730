/** Whether a call is executed (p2p.md 6.3 points 5 and 6). */
import { WireError } from "./error.ts";
import { NOT_READY } from "./replies/write.ts";
import { isInternal } from "./requests/arguments.ts";
import type { Call } from "./requests/read.ts";

export type Caller = {
  /** Whether the address matches `remoteAccess`. */
  isTrusted: boolean;
};

/**
 * The error message that answers the call instead of a result; undefined if the call is to be executed. A node that is
 * not ready answers so before it checks the caller.
 *
 * @throws {WireError} EVENT_FORBIDDEN
 */
export function refusalMessage({ event }: Call, { isTrusted }: Caller, isReady: boolean): string | undefined {
  if (!isReady) return NOT_READY;
  if (isInternal(event) && !isTrusted)
    throw new WireError("EVENT_FORBIDDEN", "an internal event from an untrusted address");
  return undefined;
}
