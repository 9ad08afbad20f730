/** Open hash-time-locked amounts (transactions-rules.md 3.9). */
import { type HtlcExpiration, present } from "@uniknode/protocol";
import type { Draft } from "../../state/draft.ts";
import { addHolding, findHolding, removeHolding } from "../../state/holdings.ts";
import type { Lock, StateReader, Wallet } from "../../state/tables.ts";
import { saveWallet, walletAt, withAttribute } from "../../wallets.ts";
import { refusal } from "../shared/common.ts";
import type { RuleContext } from "../shared/rule.ts";

/** Network time in seconds; the other type counts heights. */
const BY_TIME = 1;

/** An open lock and the wallet that holds it. */
export type HeldLock = { readonly id: string; readonly lock: Lock; readonly owner: Wallet };

export function findLock(state: StateReader, id: string): HeldLock | undefined {
  const address = state.get("locks", id);
  const lock = address === undefined ? undefined : findHolding(state, { address, kind: "locks" }, id);
  return address !== undefined && lock ? { id, lock, owner: walletAt(state, address) } : undefined;
}

/** @throws {RuleError} HtlcLockTransactionNotFoundError */
export function requireLock(state: StateReader, id: string): HeldLock {
  const held = findLock(state, id);
  if (held) return held;
  throw refusal(
    "HtlcLockTransactionNotFoundError",
    "the associated HTLC lock transaction could not be found.",
  );
}

/** Returns true if a lock is expired at the head, or has less than `margin` left. */
export function isExpired(
  { type, value }: HtlcExpiration,
  { head }: RuleContext,
  margin: { seconds: number; blocks: number } = { seconds: 0, blocks: 0 },
): boolean {
  return type === BY_TIME ? value <= head.timestamp + margin.seconds : value <= head.height + margin.blocks;
}

export const lockExpired = () =>
  refusal("HtlcLockExpiredError", "the associated HTLC lock transaction expired.");

export function addLock(draft: Draft, owner: Wallet, id: string, lock: Lock): void {
  const { locks, lockedBalance = 0n } = owner.attributes.htlc ?? {};
  const htlc = {
    locks: addHolding(draft, { address: owner.address, kind: "locks" }, locks, [id, lock]),
    lockedBalance: lockedBalance + lock.amount,
  };
  saveWallet(draft, withAttribute(owner, "htlc", htlc));
  draft.set("locks", id, owner.address);
}

/** The attribute stays when its last lock is removed: the wallet then has a locked balance of 0. */
export function removeLock(draft: Draft, { id, lock, owner }: HeldLock): void {
  const { locks, lockedBalance } = present(owner.attributes.htlc, "the locks of the owner");
  const htlc = {
    locks: removeHolding(draft, { address: owner.address, kind: "locks" }, locks, id),
    lockedBalance: lockedBalance - lock.amount,
  };
  saveWallet(draft, withAttribute(owner, "htlc", htlc));
  draft.set("locks", id, undefined);
}
