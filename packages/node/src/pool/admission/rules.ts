/** The checks of a received transaction whose verdicts depend on the pool and the chain: steps 1 to 8 of pool.md 4. */
import type { StateReader } from "@uniknode/ledger";
import {
  decodeBase58check,
  findTransactionType,
  isTypeActive,
  type Milestone,
  type Network,
  type SealedTransaction,
  TYPE_GROUPS,
} from "@uniknode/protocol";
import type { SignatureCheck } from "../../verification/packed-checks.ts";
import type { RecordedSignatures } from "../../verification/wallet-signatures.ts";
import type { Contents } from "../contents/contents.ts";
import type { Journal } from "../contents/journal.ts";
import { expirationHeight, isExpiredInNextBlock, type Pending } from "../contents/pending.ts";
import type { Senders } from "../contents/senders.ts";
import { Refusal, SenderLimitError } from "../events.ts";
import type { PoolOptions } from "../pool-options.ts";
import { assetText, type Candidate } from "./candidate.ts";
import type { RecentIds, RefusalCounts } from "./requests.ts";

/** The parts of the chain and of the pool that an admission uses. */
export type AdmissionDeps = {
  readonly network: Network;
  /** State at the head. */
  readonly state: StateReader;
  /** Verdicts about signatures that depend on wallets. */
  readonly signatures: RecordedSignatures;
  /** Returns the ids that are in a stored block. */
  readonly storedIds: (ids: readonly string[]) => ReadonlySet<string>;
  /** The last accepted block; timestamp in seconds since the network epoch. */
  readonly head: () => { readonly height: number; readonly timestamp: number };
  /** Network time in seconds. */
  readonly now: () => number;
  /** Settles with the verdict of each signature, in order. */
  readonly verify: (checks: readonly SignatureCheck[]) => Promise<boolean[]>;
  readonly pending: Pending;
  readonly senders: Senders;
  readonly contents: Contents;
  readonly journal: Journal;
  readonly recentIds: RecentIds;
  readonly refusals: RefusalCounts;
};

/** A version 1 timestamp may be this far ahead. */
const MAX_FUTURE_SECONDS = 3600;

export const milestoneOf = ({ network, head }: Pick<AdmissionDeps, "network" | "head">): Milestone =>
  network.milestoneAt(head().height);

/**
 * Steps 1 to 8 without the check of the recipient, whose verdict neither the pool nor the chain can change.
 *
 * @param request all candidates of the request
 * @throws {Refusal}
 * @throws {SenderLimitError}
 */
export function checkRules(
  candidate: Candidate,
  request: readonly Candidate[],
  options: PoolOptions,
  deps: AdmissionDeps,
): void {
  const { pending } = deps;
  // 1
  if (pending.has(candidate.id)) throw new Refusal("ERR_DUPLICATE", `Duplicate transaction ${candidate.id}`);
  checkSenderLimit(candidate, options, deps);
  checkTimes(candidate, options, deps);
  checkType(candidate, deps);
  checkTypeRule(candidate, request, deps);
}

/** Step 2. Transactions of the same request are not counted. */
function checkSenderLimit(
  { senderPublicKey }: Candidate,
  { poolAllowedSenders, poolMaxPerSender }: PoolOptions,
  { pending }: AdmissionDeps,
): void {
  const isExcess = pending.ofSender(senderPublicKey).length >= poolMaxPerSender;
  if (isExcess && !poolAllowedSenders.includes(senderPublicKey)) throw new SenderLimitError();
}

/** Steps 3 and 4. */
function checkTimes(
  candidate: Candidate,
  { maxTransactionAge }: PoolOptions,
  { network, head, now }: AdmissionDeps,
): void {
  const { id, timestamp } = candidate;
  const ahead = timestamp === undefined ? 0 : timestamp - now();
  if (ahead > MAX_FUTURE_SECONDS) {
    throw new Refusal("ERR_FROM_FUTURE", `Transaction ${id} is ${ahead} seconds in the future`);
  }
  const { height } = head();
  const { blocktime: blockTime } = network.milestoneAt(1);
  const context = { blockTime, currentHeight: height, now: now(), maxTransactionAge };
  const expiration = expirationHeight(candidate, context);
  if (expiration !== undefined && isExpiredInNextBlock(expiration, height)) {
    throw new Refusal("ERR_EXPIRED", `Transaction ${id} is expired since ${height - expiration} blocks.`);
  }
}

/** Steps 5 to 7. */
function checkType({ network: networkByte, typeGroup, type }: Candidate, deps: AdmissionDeps): void {
  const { pubKeyHash } = deps.network.description;
  if (networkByte && networkByte !== pubKeyHash) {
    // Trap D5: the message of an old node does not name the expected network.
    throw new Refusal(
      "ERR_WRONG_NETWORK",
      `Transaction network '${networkByte}' does not match '${pubKeyHash}'`,
    );
  }
  if (!findTransactionType(typeGroup, type)) {
    const message = `Invalidating transaction of unsupported type '${coreTypeName(type)}'`;
    throw new Refusal("ERR_UNSUPPORTED", message);
  }
  if (!isTypeActive(typeGroup, type, { network: deps.network, height: deps.head().height })) {
    const toError = typeGroup === TYPE_GROUPS.core ? `Core/${type}` : `${typeGroup}/${type}`;
    throw new Refusal("ERR_UNKNOWN", `Transaction type ${toError} is deactivated.`);
  }
}

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

const coreTypeName = (type: number): string => CORE_NAMES[type] ?? "undefined";

/** Core types of which a sender may have one pending transaction. */
const ONE_PENDING = new Set([1, 2, 3, 4, 7]);

/** Step 8: the rules of each type (pool.md 5). */
function checkTypeRule(candidate: Candidate, request: readonly Candidate[], deps: AdmissionDeps): void {
  const { typeGroup, type } = candidate;
  if (typeGroup === TYPE_GROUPS.magistrate) checkMagistrate(candidate, deps);
  // Trap D1: for NFT and UNS types the number is looked up in group 1, whatever the group.
  else if (typeGroup !== TYPE_GROUPS.core || ONE_PENDING.has(type)) {
    refusePendingCoreType(candidate, type, deps);
  }
  if (typeGroup !== TYPE_GROUPS.core) return;
  if (type === 2) checkUsername(candidate, request, deps);
  if (type === 9) checkLock(candidate, "claim", deps);
  if (type === 10) checkLock(candidate, "refund", deps);
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

function refusePendingCoreType(candidate: Candidate, type: number, { pending }: AdmissionDeps): void {
  const { senderPublicKey } = candidate;
  const isSame = ({ data }: SealedTransaction) => data.typeGroup === TYPE_GROUPS.core && data.type === type;
  if (!pending.ofSender(senderPublicKey).some(isSame)) return;
  throw new Refusal(
    "ERR_PENDING",
    `Sender ${senderPublicKey} already has a transaction of type '${coreTypeName(type)}' in the pool`,
  );
}

function checkUsername(
  candidate: Candidate,
  request: readonly Candidate[],
  { pending }: AdmissionDeps,
): void {
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

function checkLock(
  candidate: Candidate,
  member: "claim" | "refund",
  { state, pending }: AdmissionDeps,
): void {
  const lockId = assetText(candidate.asset, member, "lockTransactionId") ?? "";
  if (state.get("locks", lockId) === undefined) {
    throw new Refusal(
      "ERR_HTLCLOCKNOTFOUND",
      `The associated lock transaction id "${lockId}" was not found.`,
    );
  }
  const isSame = ({ data }: SealedTransaction) => data.asset?.[member]?.lockTransactionId === lockId;
  if (pending.all().some(isSame)) {
    throw new Refusal("ERR_PENDING", `HtlcLock ${member} for "${lockId}" already in the pool`);
  }
}

function checkMagistrate(candidate: Candidate, { pending }: AdmissionDeps): void {
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
