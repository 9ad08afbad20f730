/** Hash-time locks in responses (http-api.md 4.8), and lists of open ones. */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { LockFilter, LockOrder } from "../../read/filters.ts";
import { LOCKS } from "../../read/lists.ts";
import type { Head } from "../../read/port.ts";
import type { StoredLock } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { address, amount, count, hex, id, publicKey, Timestamp, type TimestampOf } from "../core/values.ts";
import { isFlag, matches, memoryList, passing, type Rate, type Tests } from "../requests/memory-list.ts";
import type { ListRequest } from "../requests/pagination.ts";
import { orderOf } from "../requests/parameters.ts";

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
const isLockExpired = ({ expiration: { type, value } }: StoredLock, head: Head): boolean =>
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

/** A lock with the head, which decides whether it has expired. */
type Row = { readonly lock: StoredLock; readonly isExpired: boolean };

const RATES = {
  amount: ({ lock }) => BigInt(lock.amount),
  expirationType: ({ lock }) => lock.expiration.type,
  expirationValue: ({ lock }) => lock.expiration.value,
  isExpired: ({ isExpired }) => isExpired,
  lockId: ({ lock }) => lock.id,
  recipientId: ({ lock }) => lock.recipientId,
  secretHash: ({ lock }) => lock.secretHash,
  senderPublicKey: ({ lock }) => lock.senderPublicKey,
  timestamp: ({ lock }) => lock.timestamp,
  vendorField: ({ lock }) => lock.vendorField,
} as const satisfies Record<LockOrder["field"], Rate<Row>>;

const TESTS: Tests<Row, LockFilter> = {
  recipientId: ({ lock }, value) => lock.recipientId === value,
  senderPublicKey: ({ lock }, value) => lock.senderPublicKey === value,
  lockId: ({ lock }, value) => lock.id === value,
  secretHash: ({ lock }, value) => lock.secretHash === value,
  amount: ({ lock }, value) => matches(lock.amount, value),
  timestamp: ({ lock }, value) => lock.timestamp !== undefined && matches(lock.timestamp, value),
  expirationType: ({ lock }, value) => matches(lock.expiration.type, value),
  expirationValue: ({ lock }, value) => matches(lock.expiration.value, value),
  isExpired: ({ isExpired }, value) => isFlag(isExpired, value),
  vendorField: ({ lock }, value) => lock.vendorField === value,
};

export function lockList(
  { timestampOf }: Api,
  head: Head,
  request: ListRequest<{ orderBy?: string }>,
  locks: readonly StoredLock[],
  filter: LockFilter,
) {
  const rows = locks.map((lock) => ({ lock, isExpired: isLockExpired(lock, head) }));
  const { field, direction } = orderOf(request.query.orderBy, LOCKS);
  return memoryList(request, passing(rows, TESTS, filter), {
    show: ({ lock }) => lockResponse(lock, head, timestampOf),
    id: ({ lock }) => lock.id,
    rate: RATES[field],
    direction,
  });
}
