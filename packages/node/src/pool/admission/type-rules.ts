/** Rules of the pool for each type, before the schema is checked (pool.md 5). */
import { decodeBase58check, type SealedTransaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Pending } from "../contents/pending.ts";
import { Refusal } from "../refusal.ts";
import { assetText, type Candidate } from "./candidate.ts";

export type TypeRuleContext = {
  pending: Pending;
  /** All candidates of the request, this one among them. */
  request: readonly Candidate[];
  isLockKnown(lockId: string): boolean;
};

/** Names of the group 1 types as refusals show them, by type number. */
const CORE_NAMES = [
  "Transfer",
  "SecondSignature",
  "DelegateRegistration",
  "Vote",
  "MultiSignature",
  "Ipfs",
  "MultiPayment",
  "DelegateResignation",
  "HtlcLock",
  "HtlcClaim",
  "HtlcRefund",
] as const;

export const coreTypeName = (type: number): string => CORE_NAMES[type] ?? "undefined";

/** Core types of which a sender may have one pending transaction. */
const ONE_PENDING = new Set([1, 2, 3, 4, 7]);

/**
 * The rules that depend on the pending transactions.
 *
 * @throws {Refusal}
 */
export function checkTypeRule(candidate: Candidate, context: TypeRuleContext): void {
  const { typeGroup, type } = candidate;
  if (typeGroup === TYPE_GROUPS.core) checkCore(candidate, context);
  else if (typeGroup === TYPE_GROUPS.magistrate) checkMagistrate(candidate, context);
  // Trap D1: for NFT and UNS types the number is looked up in group 1, whatever the group.
  else refusePendingCoreType(candidate, type, context);
}

function checkCore(candidate: Candidate, context: TypeRuleContext): void {
  const { type } = candidate;
  if (ONE_PENDING.has(type)) refusePendingCoreType(candidate, type, context);
  if (type === 2) checkUsername(candidate, context);
  if (type === 9) checkLock(candidate, "claim", context);
  if (type === 10) checkLock(candidate, "refund", context);
}

/**
 * The rule of transfers: the recipient belongs to the network, whose address version byte is given.
 *
 * @throws {Refusal}
 */
export function checkRecipient({ typeGroup, type, recipientId = "" }: Candidate, networkByte: number): void {
  if (typeGroup !== TYPE_GROUPS.core || type !== 0) return;
  let version: number | undefined;
  try {
    version = decodeBase58check(recipientId)[0];
  } catch {
    throw new Refusal("ERR_UNKNOWN", `Address ${recipientId} is not valid`);
  }
  if (version === networkByte) return;
  throw new Refusal(
    "ERR_INVALID_RECIPIENT",
    `Recipient ${recipientId} is not on the same network: ${networkByte}`,
  );
}

function refusePendingCoreType(candidate: Candidate, type: number, { pending }: TypeRuleContext): void {
  const { senderPublicKey } = candidate;
  const isSame = ({ data }: SealedTransaction) => data.typeGroup === TYPE_GROUPS.core && data.type === type;
  if (!pending.ofSender(senderPublicKey).some(isSame)) return;
  throw new Refusal(
    "ERR_PENDING",
    `Sender ${senderPublicKey} already has a transaction of type '${coreTypeName(type)}' in the pool`,
  );
}

function checkUsername(candidate: Candidate, { pending, request }: TypeRuleContext): void {
  const username = assetText(candidate.asset, "delegate", "username");
  const isRegistration = ({ typeGroup, type }: { typeGroup: number; type: number }) =>
    typeGroup === TYPE_GROUPS.core && type === 2;
  const isSameName = (other: Candidate) =>
    isRegistration(other) && assetText(other.asset, "delegate", "username") === username;
  if (request.filter(isSameName).length > 1) {
    throw new Refusal(
      "ERR_CONFLICT",
      `Multiple delegate registrations for "${username}" in transaction payload`,
    );
  }
  const isTaken = pending
    .all()
    .some(({ data }) => isRegistration(data) && data.asset?.delegate?.username === username);
  if (isTaken) {
    throw new Refusal("ERR_PENDING", `Delegate registration for "${username}" already in the pool`);
  }
}

function checkLock(candidate: Candidate, member: "claim" | "refund", context: TypeRuleContext): void {
  const lockId = assetText(candidate.asset, member, "lockTransactionId") ?? "";
  if (!context.isLockKnown(lockId)) {
    throw new Refusal(
      "ERR_HTLCLOCKNOTFOUND",
      `The associated lock transaction id "${lockId}" was not found.`,
    );
  }
  const isSame = ({ data }: SealedTransaction) => data.asset?.[member]?.lockTransactionId === lockId;
  if (context.pending.all().some(isSame)) {
    throw new Refusal("ERR_PENDING", `HtlcLock ${member} for "${lockId}" already in the pool`);
  }
}

function checkMagistrate(candidate: Candidate, { pending }: TypeRuleContext): void {
  const { type, senderPublicKey, asset } = candidate;
  const siblings = pending
    .ofSender(senderPublicKey)
    .filter(({ data }) => data.typeGroup === TYPE_GROUPS.magistrate && data.type === type);
  const member = type === 4 ? "bridgechainResignation" : "bridgechainUpdate";
  const isBusiness = type <= 2;
  const isSameBridgechain = ({ data }: SealedTransaction) =>
    data.asset?.[member]?.bridgechainId === assetText(asset, member, "bridgechainId");
  const isBridgechainChange = type === 4 || type === 5;
  if (isBusiness ? siblings.length > 0 : isBridgechainChange && siblings.some(isSameBridgechain)) {
    throw new Refusal(
      "ERR_PENDING",
      `Sender ${senderPublicKey} already has a transaction of type '${TYPE_GROUPS.magistrate}/${type}' in the pool`,
    );
  }
}
