/** The checks of a received transaction whose verdicts depend on the pool and the chain: steps 1 to 8 of pool.md 4. */
import type { StateReader, WalletSignatures } from "@uniknode/ledger";
import {
  findTransactionType,
  isTypeActive,
  type Milestone,
  type Network,
  TYPE_GROUPS,
} from "@uniknode/protocol";
import { expirationHeight, isExpiredInNextBlock } from "../contents/expiration.ts";
import type { Pending } from "../contents/pending.ts";
import { Refusal, SenderLimitError } from "../refusal.ts";
import type { Candidate } from "./candidate.ts";
import { checkTypeRule, coreTypeName } from "./type-rules.ts";

export type RuleOptions = {
  readonly poolMaxPerSender: number;
  /** Public keys exempt from the limit per sender. */
  readonly poolAllowedSenders: readonly string[];
  /** Maximum age of a pending version 1 transaction in blocks. */
  readonly maxTransactionAge: number;
};

export type AdmissionDeps = {
  readonly network: Network;
  /** State at the head. */
  readonly state: StateReader;
  /** Verdicts about signatures that depend on wallets. */
  readonly signatures: WalletSignatures;
  /** Returns the ids that are in a stored block. */
  readonly storedIds: (ids: readonly string[]) => ReadonlySet<string>;
  readonly pending: Pending;
  /** The last accepted block; timestamp in seconds since the network epoch. */
  readonly head: () => { readonly height: number; readonly timestamp: number };
  /** Network time in seconds. */
  readonly now: () => number;
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
  options: RuleOptions,
  deps: AdmissionDeps,
): void {
  const { pending, state } = deps;
  // 1
  if (pending.has(candidate.id)) throw new Refusal("ERR_DUPLICATE", `Duplicate transaction ${candidate.id}`);
  checkSenderLimit(candidate, options, deps);
  checkTimes(candidate, options, deps);
  checkType(candidate, deps);
  const isLockKnown = (lockId: string) => state.get("locks", lockId) !== undefined;
  checkTypeRule(candidate, { pending, request, isLockKnown });
}

/** Step 2. Transactions of the same request are not counted. */
function checkSenderLimit(
  { senderPublicKey }: Candidate,
  { poolAllowedSenders, poolMaxPerSender }: RuleOptions,
  { pending }: AdmissionDeps,
): void {
  const isExcess = pending.ofSender(senderPublicKey).length >= poolMaxPerSender;
  if (isExcess && !poolAllowedSenders.includes(senderPublicKey)) throw new SenderLimitError();
}

/** Steps 3 and 4. */
function checkTimes(
  candidate: Candidate,
  { maxTransactionAge }: RuleOptions,
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
