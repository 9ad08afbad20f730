/** Hash-time locks in answers (http-api.md 4.8). */
import type { StoredLock } from "../../store/queries/locks.ts";
import type { Head } from "../../store/queries/snapshot.ts";
import type { TimestampOf } from "./timestamp.ts";

/** Expiration by network time; the other type counts heights. */
const BY_TIME = 1;

/** Whether it can no longer be claimed (transactions-rules.md 3.9). */
export const isLockExpired = ({ expiration: { type, value } }: StoredLock, head: Head): boolean =>
  value <= (type === BY_TIME ? head.timestamp : head.height);

export function lockAnswer(lock: StoredLock, head: Head, timestampOf: TimestampOf) {
  const { id, amount, secretHash, senderPublicKey, recipientId, timestamp, expiration, vendorField } = lock;
  return {
    lockId: id,
    amount,
    secretHash,
    senderPublicKey,
    recipientId,
    // Every stored lock has the time of its block.
    timestamp: timestampOf(timestamp ?? 0),
    expirationType: expiration.type,
    expirationValue: expiration.value,
    isExpired: isLockExpired(lock, head),
    ...(vendorField !== undefined && { vendorField }),
  };
}
