/** Whether a call is executed (p2p.md 6.3 points 5 and 6). */
import { WireError } from "../error.ts";
import { NOT_READY } from "../replies/write.ts";
import { isInternal } from "./arguments.ts";
import type { Call } from "./read.ts";

export type Caller = {
  /** Whether the address matches `remoteAccess`. */
  isTrusted: boolean;
};

/**
 * The message of the error that answers the call instead; undefined if it is to be executed. A node that is not
 * ready tells so before it looks at who asks.
 *
 * @throws {WireError} EVENT_FORBIDDEN
 */
export function refusalOf({ event }: Call, { isTrusted }: Caller, isReady: boolean): string | undefined {
  if (!isReady) return NOT_READY;
  if (isInternal(event) && !isTrusted)
    throw new WireError("EVENT_FORBIDDEN", "an internal event from a stranger");
  return undefined;
}
