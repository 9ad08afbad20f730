/** Decides if a call is executed (p2p.md 6.3 points 5 and 6). */
import { WireError } from "./error.ts";
import { NOT_READY } from "./replies/write.ts";
import { isInternal } from "./requests/arguments.ts";
import type { Call } from "./requests/read.ts";

export type Caller = {
  /** True if the address matches `remoteAccess`. */
  isTrusted: boolean;
};

/**
 * Returns the error message with which the call is refused; undefined if it must be executed. A node that is
 * not ready refuses before it checks the caller.
 *
 * @throws {WireError} EVENT_FORBIDDEN
 */
export function refusalMessage({ event }: Call, { isTrusted }: Caller, isReady: boolean): string | undefined {
  if (!isReady) return NOT_READY;
  if (isInternal(event) && !isTrusted)
    throw new WireError("EVENT_FORBIDDEN", "an internal event from an untrusted address");
  return undefined;
}
