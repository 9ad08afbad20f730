/** Reads the proof of a delivery as text (webhooks.md 7.5). */
import type { Logger } from "pino";
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import { isWithin } from "../platform/notifier.ts";
import type { ProveFact, ProvenFact } from "../proofs/assemble.ts";
import type { DeliveryMessage } from "./model/deliveries.ts";

/**
 * Returns the member `proof` of a body: the proof, or a link to it if it is too long or cannot be read in time, so that no
 * delivery waits for its proof. Undefined if nothing can be proven. Never rejects.
 */
export type ReadProofText = (message: DeliveryMessage, proofDepth: number) => Promise<string | undefined>;

/** Maximum length of a proof in a body. */
export const MAX_PROOF_CHARACTERS = 65_536;

/** The margin of a call is longer: a worker must not send after its ownership has ended. */
const TIMEOUT_MS = 500;

type ProofTextDeps = { readonly proveFact: ProveFact; readonly logger: Pick<Logger, "warn"> };

export function createReadProofText({ proveFact, logger }: ProofTextDeps): ReadProofText {
  /** True after a failure: an outage of the database fails many deliveries, and is logged once. */
  let isFailing = false;
  /** Resolves to undefined after a failure. */
  async function read(fact: ProvenFact, delivery: string): Promise<Read | undefined> {
    try {
      const proof = await readInTime(proveFact, fact);
      isFailing = false;
      return { text: proof };
    } catch (err) {
      if (!isFailing)
        logger.warn({ err, delivery }, "failed to read proofs of deliveries; links are sent instead");
      isFailing = true;
      return undefined;
    }
  }
  return async (message, proofDepth) => {
    const fact = provenFactOf(message, proofDepth);
    if (!fact) return undefined;
    const proof = await read(fact, message.id);
    const isShort = (proof?.text?.length ?? 0) <= MAX_PROOF_CHARACTERS;
    return proof && isShort ? proof.text : JSON.stringify({ link: proofLinkOf(fact) });
  };
}

/** Absent text: the fact has no proof. */
type Read = { readonly text: string | undefined };

async function readInTime(proveFact: ProveFact, fact: ProvenFact): Promise<string | undefined> {
  let text: string | undefined;
  const reading = proveFact(fact).then((proof) => {
    text = proof && JSON.stringify(proof);
  });
  if (await isWithin(reading, TIMEOUT_MS)) return text;
  throw new Error(`timeout after ${TIMEOUT_MS} ms`);
}

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
function provenFactOf(
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
const proofLinkOf = ({ blockId, transactionId }: ProvenFact): string =>
  transactionId === undefined
    ? `/api/v2/blocks/${encodeURIComponent(blockId)}/proof`
    : `/api/v2/transactions/${encodeURIComponent(transactionId)}/proof`;
