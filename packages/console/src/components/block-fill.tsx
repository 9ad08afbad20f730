/** Fill level of a block: the larger of its shares of the maximum transactions and bytes. */
import type { Block } from "@uniknode/client";
import { useNode } from "../data/node.ts";

const shares = new Intl.NumberFormat(undefined, { style: "percent", maximumSignificantDigits: 2 });

export function BlockFill({ block: { transactions, payload } }: { block: Block }) {
  const limits = useNode().configuration.value?.constants.block;
  if (!limits) return null;
  const share = Math.min(
    Math.max(transactions / limits.maxTransactions, payload.length / limits.maxPayload),
    1,
  );
  return (
    <span class="fill" title={`${transactions} of ${limits.maxTransactions} transactions`}>
      <span class="fill-bar" style={{ "--fill": `${share * 100}%` }} /> {shares.format(share)}
    </span>
  );
}
