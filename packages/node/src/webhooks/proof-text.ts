/** Reads the proof of a delivery as text (webhooks.md 7.5). */
import type { Logger } from "pino";
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import { isWithin } from "../platform/notifier.ts";
import type { ProveFact, ProvenFact } from "../proofs/assemble.ts";
import { FailureLog } from "./collaborators.ts";
import type { DeliveryMessage } from "./model/deliveries.ts";

export const MAX_PROOF_CHARACTERS = 65_536;

/** The margin of a call is longer: a worker must not send after its ownership has ended. */
const TIMEOUT_MS = 500;

export class ProofTexts {
  readonly #proveFact: ProveFact;
  readonly #log: FailureLog;

  constructor(proveFact: ProveFact, logger: Pick<Logger, "info" | "warn">) {
    this.#proveFact = proveFact;
    // An outage of the database fails many deliveries.
    this.#log = new FailureLog(logger, "failed to read proofs of deliveries; links are sent instead");
  }

  /**
   * Returns the member `proof` of a body: the proof, or a link to it if it is too long or cannot be read in time, so that no
   * delivery waits for its proof. Undefined if nothing can be proven. Never rejects.
   *
   * @param proofDepth number of blocks above the block of the fact that the proof may contain
   */
  async read(message: DeliveryMessage, proofDepth: number): Promise<string | undefined> {
    const fact = provenFactOf(message, proofDepth);
    if (!fact) return undefined;
    try {
      const text = await readInTime(this.#proveFact, fact);
      this.#log.noteSuccess();
      if (text === undefined || text.length <= MAX_PROOF_CHARACTERS) return text;
    } catch (err) {
      this.#log.noteFailure(err, { delivery: message.id });
    }
    return JSON.stringify({ link: proofLinkOf(fact) });
  }
}

/** Resolves to undefined if the fact has no proof. */
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

/** Returns the fact to prove; undefined for a delivery that no block proves, such as a retraction. */
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
