/** Judges a block against the chain, and applies it if it is valid (consensus.md 6.2). */
import { type Block, type BlockFault, isBlockException } from "@uniknode/protocol";
import { walletOf } from "../wallets.ts";
import { applyBlock } from "./apply.ts";
import type { JudgeContext } from "./context.ts";
import { isFromDelegateOfSlot, roundOf } from "./forger.ts";
import { isChained, judgeUnchained } from "./unchained.ts";
import type { Reason, Verdict } from "./verdict.ts";
import { verifyWithWallets } from "./verification.ts";

/**
 * The first matching line of consensus.md 6.2 decides. Does not throw: a block that causes an error is refused.
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
