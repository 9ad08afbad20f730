/** Judges a block against the chain, and applies it if it is valid (consensus.md 6.2). */
import {
  type Block,
  type BlockFault,
  type BlockHeader,
  containsMultiSignatures,
  isBlockException,
  type SealedTransaction,
  TransactionError,
} from "@uniknode/protocol";
import { isFromDelegateOfSlot, roundOf } from "../rounds/round.ts";
import { requireRule } from "../rules/registry.ts";
import { refusal } from "../rules/shared/common.ts";
import { isVerifiedIn } from "../signatures.ts";
import type { Draft } from "../state/draft.ts";
import { walletOf } from "../wallets.ts";
import { type AppliedBlock, applyBlock, type BlockContext } from "./apply.ts";
import type { Repetitions } from "./repetitions.ts";

/** Reasons of verdicts on blocks that are submitted to the chain (consensus.md 6.2 and 6.4). */
export type Reason =
  /** Listed exception, stored before. */
  | "already-stored"
  /** The block is invalid regardless of the chain (consensus.md 6.1). */
  | "verification-failed"
  /** Transactions of different versions. */
  | "mixed-versions"
  /** The nonces of a sender do not continue its nonce. */
  | "nonce-out-of-order"
  /** A block below it is missing. */
  | "too-high"
  /** The same block, too high, was received for the sixth time in a row. */
  | "too-high-again"
  | "below-head"
  | "is-head"
  | "older-than-head"
  /** The delegate of the slot signed another block for this height. */
  | "double-forging"
  /** The generator is not the delegate of the slot. */
  | "wrong-generator"
  /** A transaction is stored already. */
  | "transaction-stored"
  /** A rule refused a transaction while the block was applied. */
  | "refused";

export type Verdict =
  | ({ readonly kind: "Accepted" } & AppliedBlock)
  | Rejection
  | { readonly kind: "Discarded"; readonly reason: Reason }
  /** `blocks` is the number to remove; without it, one is drawn (consensus.md 8). */
  | { readonly kind: "Rollback"; readonly reason: Reason; readonly blocks?: number };

export type Rejection = {
  readonly kind: "Rejected";
  readonly reason: Reason;
  /** Faults of a block that failed verification. */
  readonly faults?: readonly BlockFault[];
  /**
   * The error from its verification or application: a `RuleError` if a rule refused it. Other errors are not caused by
   * the block, such as a state that cannot be read, or too few delegates for a round.
   */
  readonly cause?: unknown;
};

/** The context in which a block is judged. */
export type JudgeContext = BlockContext & {
  /** The last accepted block. */
  readonly head: { readonly id: string; readonly height: number; readonly timestamp: number };
  /** State at the head; an accepted block writes its changes to it, every other one writes none. */
  readonly draft: Draft;
  readonly isBlockStored: (id: string) => boolean;
  readonly isTransactionStored: (id: string) => boolean;
  readonly repetitions: Repetitions;
};

/**
 * Returns the verdict on a block: the first matching line of consensus.md 6.2 decides. It does not throw: a block that causes an error is refused.
 *
 * @param faults result of the stateless check of the block (blocks.md 7)
 */
export function judgeBlock(context: JudgeContext, block: Block, faults: readonly BlockFault[]): Verdict {
  const { network, head, draft } = context;
  const { header, transactions } = block;
  // 1
  const ids = transactions.map(({ data }) => data.id);
  if (isBlockException(header.id, ids, network)) {
    return context.isBlockStored(header.id) ? rejected("already-stored") : accept(context, block);
  }
  // 2
  const rejection = verify(context, block, faults);
  if (rejection) return rejection;
  // 3
  const { version } = transactions[0]?.data ?? {};
  if (transactions.some(({ data }) => data.version !== version)) return rejected("mixed-versions");
  // 4
  if (!hasContinuousNonces(context, block)) return rejected("nonce-out-of-order");
  // 5
  if (!isChained(header, context)) return judgeUnchained(context, header);
  // 6
  const round = roundOf(draft, context, head.height, header.height);
  if (!isFromDelegateOfSlot(round, context, header)) return rejected("wrong-generator");
  // 7
  if (ids.some((id) => context.isTransactionStored(id))) {
    return { kind: "Discarded", reason: "transaction-stored" };
  }
  return accept(context, block); // 8
}

const rejected = (reason: Reason): Verdict => ({ kind: "Rejected", reason });

function verify(context: JudgeContext, block: Block, stateless: readonly BlockFault[]): Verdict | undefined {
  const reason = "verification-failed";
  try {
    const faults = verifyWithWallets(context, block, stateless);
    return faults.length > 0 ? { kind: "Rejected", reason, faults } : undefined;
  } catch (cause) {
    return { kind: "Rejected", reason, faults: stateless, cause };
  }
}

function accept(context: JudgeContext, block: Block): Verdict {
  try {
    const { facts, changes } = applyBlock(context, context.draft, block);
    return { kind: "Accepted", facts, changes };
  } catch (cause) {
    return { kind: "Rejected", reason: "refused", cause };
  }
}

/**
 * Returns true if, in block order, every nonce of a sender is one more than the previous one; version 1 has
 * none.
 */
function hasContinuousNonces({ draft, network }: JudgeContext, { transactions }: Block): boolean {
  // Most blocks are empty.
  if (transactions.length === 0) return true;
  const nonces = new Map<string, bigint>();
  for (const { data } of transactions) {
    const { version, nonce, senderPublicKey } = data;
    if (version < 2) break;
    const last = nonces.get(senderPublicKey) ?? walletOf(draft, senderPublicKey, network).nonce;
    if (nonce !== last + 1n) return false;
    nonces.set(senderPublicKey, nonce);
  }
  return true;
}

type Context = Pick<JudgeContext, "network" | "head" | "draft" | "assumesSignatures" | "signatures">;

/**
 * Returns the faults that remain with the wallets (blocks.md 8.2 point 3). Signatures of multisignature wallets cannot be verified without the wallet. If a block has such
 * transactions, all its transactions are verified again against the wallets from before the block: a wallet cannot spend
 * in the block that registers it (trap A17).
 *
 * @throws {RuleError} if a transaction has no rule in force, or signatures that cannot be checked
 */
function verifyWithWallets(
  context: Context,
  block: Block,
  faults: readonly BlockFault[],
): readonly BlockFault[] {
  if (!containsMultiSignatures(block)) return faults;
  const unverified = block.transactions.flatMap((transaction, sequence): BlockFault[] =>
    isVerified(context, transaction)
      ? []
      : [{ code: "unverified-transaction", transactionId: transaction.data.id, sequence }],
  );
  return faults
    .filter(({ code }) => code !== "unverified-transaction")
    .flatMap((fault): BlockFault[] => {
      if (fault.code !== "unverified-transactions") return [fault];
      return unverified.length > 0 ? [fault, ...unverified] : [];
    });
}

function isVerified(context: Context, transaction: SealedTransaction): boolean {
  requireRule(transaction.data, context);
  try {
    return isVerifiedIn(context.draft, transaction, context.network, context);
  } catch (error) {
    if (!(error instanceof TransactionError || error instanceof RangeError)) throw error;
    throw refusal("InvalidMultiSignaturesError", `the multi signatures cannot be examined: ${error.message}`);
  }
}

const ROLLBACK_BLOCKS = 5000;

/** Returns true if a block continues the head: its parent, its height, and a later slot. */
export const isChained = (
  { previousBlock, height, timestamp }: BlockHeader,
  { head, slots }: Pick<JudgeContext, "head" | "slots">,
): boolean =>
  previousBlock === head.id &&
  height === head.height + 1 &&
  slots.slotAt(timestamp) > slots.slotAt(head.timestamp);

const discarded = (reason: Reason): Verdict => ({ kind: "Discarded", reason });

function judgeUnchained(context: JudgeContext, header: BlockHeader): Verdict {
  const { head, repetitions, draft } = context;
  if (header.height > head.height + 1) {
    return repetitions.isOnceTooOften(header.id)
      ? { kind: "Rollback", reason: "too-high-again", blocks: ROLLBACK_BLOCKS }
      : discarded("too-high");
  }
  if (header.height < head.height) return discarded("below-head");
  if (header.height === head.height && header.id === head.id) return discarded("is-head");
  if (header.timestamp < head.timestamp) return rejected("older-than-head");
  // It may also be the next height with another parent (trap A23).
  const round = roundOf(draft, context, head.height, header.height);
  if (!isFromDelegateOfSlot(round, context, header)) return rejected("wrong-generator");
  return round?.delegates.some(({ publicKey }) => publicKey === header.generatorPublicKey)
    ? { kind: "Rollback", reason: "double-forging" }
    : rejected("wrong-generator");
}
