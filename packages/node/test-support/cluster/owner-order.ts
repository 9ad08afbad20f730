/** Order of the owners of a webhook: the node sends no epoch, and owns it after the workers whose calls have arrived before. */
import type { ReceivedCall } from "../simulation/receiver.ts";

/**
 * Returns a number for each call that grows with each owner of the webhook.
 *
 * @param calls of one webhook, in the order of their arrival
 */
export function ownersOf(calls: readonly ReceivedCall[]): number[] {
  let highest = 0;
  return calls.map(({ epoch }) => {
    if (epoch === undefined) return highest + 0.5;
    highest = Math.max(highest, epoch);
    return epoch;
  });
}
