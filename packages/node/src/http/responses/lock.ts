/** Hash-time locks in responses (http-api.md 4.8). */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { Head } from "../../read/head.ts";
import type { StoredLock } from "../../read/rows.ts";
import { Timestamp, type TimestampOf } from "./timestamp.ts";
import { address, amount, count, hex, id, publicKey } from "./values.ts";

export const Lock = Type.Object(
  {
    lockId: id,
    amount,
    secretHash: hex,
    senderPublicKey: publicKey,
    recipientId: address,
    timestamp: Timestamp,
    expirationType: Type.Integer({
      minimum: 1,
      maximum: 2,
      description: "1: by network time; 2: by height.",
    }),
    expirationValue: count,
    isExpired: Type.Boolean(),
    vendorField: Type.Optional(Type.String()),
  },
  { title: "Lock" },
);

/** Type of expiration by network time; the other type counts heights. */
const BY_TIME = 1;

/** Returns whether the lock can no longer be claimed (transactions-rules.md 3.9). */
export const isLockExpired = ({ expiration: { type, value } }: StoredLock, head: Head): boolean =>
  value <= (type === BY_TIME ? head.timestamp : head.height);

export function lockResponse(lock: StoredLock, head: Head, timestampOf: TimestampOf): Static<typeof Lock> {
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
