/** One header of a proof. */
import { decodeFullHeader, fullHeaderSignatureJob, hexToBytes, type SignatureJob } from "@uniknode/protocol";
import type { Calendar } from "./checkpoint.ts";
import { Refusal } from "./refusal.ts";
import type { ProofStep } from "./verdict.ts";

export type ProofHeader = {
  readonly id: string;
  readonly previousBlock: string;
  readonly height: number;
  readonly timestamp: number;
  readonly slot: number;
  readonly round: number;
  readonly payloadHash: string;
  readonly generatorPublicKey: string;
  /** The signature, and what it signs. */
  readonly job: SignatureJob;
};

/**
 * Decodes the signed bytes of a header.
 *
 * @throws {Refusal}
 */
export function decodeHeader(text: string, calendar: Calendar): ProofHeader {
  const bytes = hexToBytes(text);
  const decoded = decodeOrUndefined(bytes);
  if (!decoded || decoded.height === 0) {
    throw new Refusal<ProofStep>("HEADER", "bytes are not a header with a full id of its parent");
  }
  const { id, previousBlock, height, timestamp, payloadHash, generatorPublicKey } = decoded;
  return {
    ...{ id, previousBlock, height, timestamp, payloadHash, generatorPublicKey },
    slot: calendar.slotAt(timestamp),
    round: calendar.roundAt(height).round,
    job: fullHeaderSignatureJob(decoded, bytes),
  };
}

function decodeOrUndefined(bytes: Uint8Array) {
  try {
    return decodeFullHeader(bytes);
  } catch {
    return undefined;
  }
}
