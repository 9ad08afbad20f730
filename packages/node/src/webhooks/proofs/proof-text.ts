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
  return async (message, proofDepth) => {
    const fact = provenFactOf(message, proofDepth);
    if (!fact) return undefined;
    try {
      const text = await readInTime(proveFact, fact);
      if (text === undefined || text.length <= MAX_PROOF_CHARACTERS) return text;
    } catch (err) {
      logger.warn(
        { err, delivery: message.id },
        "failed to read the proof of a delivery; it is sent with a link",
      );
    }
    return JSON.stringify({ link: proofLinkOf(fact) });
  };
}

async function readInTime(proveFact: ProveFact, fact: ProvenFact): Promise<string | undefined> {
  let text: string | undefined;
  const reading = proveFact(fact).then((proof) => {
    text = proof && JSON.stringify(proof);
  });
  if (await isWithin(reading, TIMEOUT_MS)) return text;
  throw new Error(`timeout after ${TIMEOUT_MS} ms`);
}
