/** The fact of a delivery that its proof is about (webhooks.md 7.5). */
import { isChainFact, isRetraction } from "../../events/catalogue.ts";
import type { ProvenFact } from "../../proofs/fact.ts";
import type { DeliveryMessage } from "../model/deliveries.ts";

/** Members of contents that name a transaction, or a block of its own. */
type Named = {
  readonly id?: string;
  readonly height?: number;
  readonly transaction?: { readonly id?: string };
};

/**
 * Returns the fact to prove; undefined for a delivery that no block proves, such as a retraction.
 *
 * @param proofDepth number of blocks above the block of the fact that the proof may contain
 */
export function provenFactOf(
  { event, height, blockId, content: { dataText } }: DeliveryMessage,
  proofDepth: number,
): ProvenFact | undefined {
  if (height === undefined || blockId === undefined || !isChainFact(event) || isRetraction(event)) {
    return undefined;
  }
  if (event === "block.finalized") {
    const final = JSON.parse(dataText ?? "{}") as Required<Named>;
    const { id, height: finalHeight } = final;
    return { height: finalHeight, blockId: id, transactionId: undefined, blocksAbove: height - finalHeight };
  }
  const family = event.slice(0, event.indexOf("."));
  const data: Named = dataText === undefined ? {} : JSON.parse(dataText);
  const transactionId = family === "transaction" || family === "delegate" ? data.id : data.transaction?.id;
  return { height, blockId, transactionId, blocksAbove: proofDepth };
}

/** Path of the proof below the node's address. */
export const proofLinkOf = ({ blockId, transactionId }: ProvenFact): string =>
  transactionId === undefined
    ? `/api/v2/blocks/${encodeURIComponent(blockId)}/proof`
    : `/api/v2/transactions/${encodeURIComponent(transactionId)}/proof`;
