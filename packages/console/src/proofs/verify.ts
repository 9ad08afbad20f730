/** Requests the proof of a block or a transaction, and verifies it in the page. */
import { ApiError, type Client } from "@uniknode/client";
import { CheckpointError, type ProofVerdict } from "@uniknode/client/proofs";
import type { Signer } from "../signing/signer.ts";
import { firstCheckpoint, type KeptCheckpoint, keepCheckpoint, keptCheckpoint } from "./checkpoint.ts";

export type Subject = { readonly kind: "block" | "transaction"; readonly id: string };

export type Seal =
  | {
      readonly state: "final" | "included";
      readonly signers: number;
      readonly quorum: number;
      /** First checkpoint of the browser; absent if it keeps none. */
      readonly sinceMs?: number;
    }
  | { readonly state: "refused"; readonly reason: string }
  /** The block has no proof, or the chain is too short for a checkpoint. */
  | { readonly state: "unavailable" };

export type VerifyOptions = {
  /** Time of the chain's clock, milliseconds since 1970. */
  readonly nowMs: number;
  /** False on a dev chain, which can begin again with the same delegates. */
  readonly keepsCheckpoint: boolean;
};

export type VerifyDeps = { readonly api: Client; readonly verify: Signer["verify"] };

/** A clock that is behind would refuse the newest blocks; one that is ahead by minutes does no harm (proofs.md 5). */
const CLOCK_TOLERANCE_MS = 600_000;

/** Maximum number of proofs that are requested to reach the block; each advances the trusted keys. */
const MAX_REQUESTS = 4;

/** @throws {ApiError} if the node does not respond */
export async function verifySubject(
  { api, verify }: VerifyDeps,
  subject: Subject,
  options: VerifyOptions,
): Promise<Seal> {
  try {
    const kept = options.keepsCheckpoint ? keptCheckpoint() : undefined;
    const seal = await verifyWith(kept ?? (await firstCheckpoint(api)), { api, verify, subject, options });
    if (seal !== "outdated") return seal;
    keepCheckpoint(undefined);
    const second = await verifyWith(await firstCheckpoint(api), { api, verify, subject, options });
    return second === "outdated" ? { state: "unavailable" } : second;
  } catch (error) {
    const isWithoutProof = error instanceof ApiError && error.code === "API_REFUSED";
    if (isWithoutProof || error instanceof CheckpointError) return { state: "unavailable" };
    throw error;
  }
}

type Context = VerifyDeps & { readonly subject: Subject; readonly options: VerifyOptions };

/** Returns `outdated` if the checkpoint has expired, or is of another network. */
async function verifyWith(start: KeptCheckpoint, context: Context): Promise<Seal | "outdated"> {
  const { options } = context;
  let kept = start;
  for (let requests = 1; ; requests++) {
    const { checkpoint, sinceMs } = kept;
    const verdict = await verifyOnce(kept, context);
    if (verdict.verdict === "refused") {
      const isOutdated = verdict.step === "CHECKPOINT_AGE" || verdict.step === "NETWORK";
      return isOutdated ? "outdated" : { state: "refused", reason: verdict.reason };
    }
    const isNewer = verdict.checkpoint.height > checkpoint.height;
    if (isNewer) kept = { checkpoint: verdict.checkpoint, sinceMs };
    if (options.keepsCheckpoint) keepCheckpoint(kept);
    const { signers, quorum } = verdict;
    if (verdict.verdict === "final" || !isNewer || requests === MAX_REQUESTS)
      return { state: verdict.verdict, signers, quorum, ...(options.keepsCheckpoint && { sinceMs }) };
  }
}

async function verifyOnce(
  { checkpoint }: KeptCheckpoint,
  { api, verify, subject: { kind, id }, options: { nowMs } }: Context,
): Promise<ProofVerdict> {
  const resource = kind === "block" ? api.blocks : api.transactions;
  const { data: proof } = await resource.proof(id, { checkpoint: checkpoint.height });
  return verify(proof, checkpoint, { id, nowMs: nowMs + CLOCK_TOLERANCE_MS });
}
