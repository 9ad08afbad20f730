/** The tests that a received transaction passes on its way into the pool, in their order (pool.md section 4). */
import { findRule, type StateReader } from "@uniknode/ledger";
import {
  type Milestone,
  type Network,
  type SealedTransaction,
  TransactionError,
  transactionFromJson,
} from "@uniknode/protocol";
import { type Candidate, candidateFrom } from "./candidate.ts";
import { expirationHeight, isRefusedAtAdmission } from "./expiration.ts";
import { type FeePolicy, judgeFee } from "./fees.ts";
import type { Pending } from "./pending.ts";
import { Refusal, type RefusalCode } from "./refusal.ts";
import { checkTypeRule, coreTypeName } from "./typeRules.ts";

export type AdmissionOptions = {
  maxTransactionsPerSender: number;
  /** Public keys exempt from the limit per sender. */
  allowedSenders: readonly string[];
  /** Blocks; version 1 transactions only. */
  maxTransactionAge: number;
  fees: FeePolicy;
};

export type AdmissionDeps = {
  network: Network;
  state: StateReader;
  pending: Pending;
  /** The last accepted block. */
  head: () => { height: number; timestamp: number };
  /** Network time in seconds. */
  now: () => number;
  /** Whether a multi-signature sender's signatures are good; called for transactions without a signature of their own. */
  isMultiSigned: (transaction: SealedTransaction) => boolean;
};

/** What the tests say of the transactions of one request. */
export type Judgement = {
  accept: SealedTransaction[];
  broadcast: SealedTransaction[];
  /** Ids as received. */
  excess: string[];
  refused: { id: string; code: RefusalCode; message: string }[];
};

/** A version 1 timestamp may be this far ahead. */
const MAX_FUTURE_SECONDS = 3600;
/** Room kept free in a block for its header and lengths. */
const BLOCK_OVERHEAD_BYTES = 10_240;

/** Stage B: everything that does not change the pool. */
export function judgeCandidates(
  inputs: readonly unknown[],
  options: AdmissionOptions,
  deps: AdmissionDeps,
): Judgement {
  const judgement: Judgement = { accept: [], broadcast: [], excess: [], refused: [] };
  const milestone = deps.network.milestoneAt(deps.head().height);
  const earlier: Candidate[] = [];
  for (const candidate of inputs.map(candidateFrom)) {
    try {
      if (exceedsSenderLimit(candidate, options, deps)) {
        judgement.excess.push(candidate.id);
        continue;
      }
      checkEnvelope(candidate, milestone, options, deps);
      checkTypeRule(candidate, {
        pending: deps.pending,
        networkByte: deps.network.description.pubKeyHash,
        earlier,
        isLockKnown: (lockId) => deps.state.get("locks", lockId) !== undefined,
      });
      const transaction = parse(candidate, deps);
      checkSize(transaction, milestone);
      if (!transaction.isVerified && !deps.isMultiSigned(transaction)) {
        throw new Refusal("ERR_BAD_DATA", "Transaction didn't pass the verification process.");
      }
      const fee = judgeFee(transaction, milestone, options.fees);
      if (!fee.pool && !fee.broadcast) {
        throw new Refusal("ERR_LOW_FEE", "The fee is too low to broadcast and accept the transaction");
      }
      if (fee.pool) judgement.accept.push(transaction);
      if (fee.broadcast) judgement.broadcast.push(transaction);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      judgement.refused.push({ id: candidate.id, code: error.code, message: error.message });
      // Trap D4: the rest of the batch is neither accepted nor reported.
      if (error.code === "ERR_TOO_LARGE") break;
    } finally {
      earlier.push(candidate);
    }
  }
  return judgement;
}

/** Step 2. Transactions of the same request are not counted. */
function exceedsSenderLimit(
  { id, senderPublicKey }: Candidate,
  options: AdmissionOptions,
  { pending }: AdmissionDeps,
): boolean {
  // Step 1 comes first.
  if (pending.has(id)) throw new Refusal("ERR_DUPLICATE", `Duplicate transaction ${id}`);
  if (options.allowedSenders.includes(senderPublicKey)) return false;
  return pending.ofSender(senderPublicKey).length >= options.maxTransactionsPerSender;
}

/** Steps 3 to 7. */
function checkEnvelope(
  candidate: Candidate,
  milestone: Milestone,
  { maxTransactionAge }: AdmissionOptions,
  { network, head, now }: AdmissionDeps,
): void {
  const { id, timestamp, typeGroup, type } = candidate;
  const ahead = timestamp === undefined ? 0 : timestamp - now();
  if (ahead > MAX_FUTURE_SECONDS) {
    throw new Refusal("ERR_FROM_FUTURE", `Transaction ${id} is ${ahead} seconds in the future`);
  }
  const { height } = head();
  const blockTime = network.milestoneAt(1).blocktime;
  const expiration = expirationHeight(candidate, {
    blockTime,
    currentHeight: height,
    now: now(),
    maxTransactionAge,
  });
  if (isRefusedAtAdmission(expiration, height)) {
    throw new Refusal("ERR_EXPIRED", `Transaction ${id} is expired since ${height - expiration!} blocks.`);
  }
  if (candidate.network && candidate.network !== network.description.pubKeyHash) {
    // Trap D5 is the other node's: it cannot name the network that it expects.
    throw new Refusal(
      "ERR_WRONG_NETWORK",
      `Transaction network '${candidate.network}' does not match '${network.description.pubKeyHash}'`,
    );
  }
  const rule = findRule(typeGroup, type);
  if (!rule) {
    throw new Refusal(
      "ERR_UNSUPPORTED",
      `Invalidating transaction of unsupported type '${coreTypeName(type)}'`,
    );
  }
  if (!rule.isActive(milestone, network)) {
    const shown = typeGroup === 1 ? `Core/${type}` : `${typeGroup}/${type}`;
    throw new Refusal("ERR_UNKNOWN", `Transaction type ${shown} is deactivated.`);
  }
}

/** Steps 9 and 10. */
function parse({ input }: Candidate, { network, head }: AdmissionDeps): SealedTransaction {
  try {
    return transactionFromJson(input, { network, height: head().height });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isSchema = error instanceof TransactionError && error.code === "TransactionSchemaError";
    throw new Refusal(isSchema ? "ERR_TRANSACTION_SCHEMA" : "ERR_UNKNOWN", error.message);
  }
}

/** Step 11. */
function checkSize({ data, bytes }: SealedTransaction, { block }: Milestone): void {
  const maxBytes = block.maxPayload - BLOCK_OVERHEAD_BYTES;
  if (bytes.length <= maxBytes) return;
  throw new Refusal("ERR_TOO_LARGE", `Transaction ${data.id} is larger than ${maxBytes} bytes.`);
}
