/**
 * Epochs of senders (webhooks.md 10, point 16): each owner of a webhook has a higher one than all before, also an owner that
 * continues with an older copy of the data, which does not know the later epochs.
 */

/** @param last epoch of the last owner that the data know; 0 before the first */
export const nextEpoch = (last: number, nowMs: number): number => Math.max(last + 1, nowMs);
