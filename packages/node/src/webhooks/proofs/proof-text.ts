/** Reads the proof of a delivery as text. */
import type { Logger } from "pino";
import { isWithin } from "../../platform/within.ts";
import type { ProveFact, ProvenFact } from "../../proofs/fact.ts";
import type { DeliveryMessage } from "../model/deliveries.ts";
import { proofLinkOf, provenFactOf } from "./proven-fact.ts";

/**
 * Returns the member `proof` of a body: the proof, or a link to it if it is too long or cannot be read in time, so that no
 * delivery waits for its proof. Undefined if nothing can be proven. Never rejects.
 */
export type ReadProofText = (message: DeliveryMessage, proofDepth: number) => Promise<string | undefined>;

/** Maximum length of a proof in a body. */
export const MAX_PROOF_CHARACTERS = 65_536;

/** Shorter than the margin of a call: a worker must not send after its ownership has ended. */
const TIMEOUT_MS = 500;

export type ProofTextDeps = { readonly proveFact: ProveFact; readonly logger: Pick<Logger, "warn"> };

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
