/**
 * Verification of proofs: that a block of the network contains a transaction, and that it is final (docs/spec/proofs.md); and what the
 * signers of a checkpoint say about a unik (docs/spec/facts.md).
 */

export type { Proof, ProofRound } from "../api/resources/proofs.ts";
export type { AuditedWebhook, AuditOptions, AuditReport, ReceivedFact } from "./audit/audit.ts";
export type { AuditStep } from "./audit/leaves.ts";
export {
  type Checkpoint,
  CheckpointError,
  type CheckpointErrorCode,
  type CheckpointNetwork,
  checkpointText,
  parseCheckpoint,
  readCheckpoint,
  TRUSTING_PERIOD_MS,
} from "./checkpoint.ts";
export { createVerifyingClient, type ResolveOptions, type VerifyingClient } from "./client.ts";
export { createCheckpoint } from "./create.ts";
export { type DeliveryProofOptions, type ProvenDelivery, verifyDelivery } from "./delivery.ts";
export { type Note, readNote, signersOf } from "./resolution/note.ts";
export type { ResolutionStep, ResolutionVerdict, ResolvedUnik } from "./resolution/verdict.ts";
export { type ResolutionOptions, verifyResolution, type WitnessedCheckpoint } from "./resolution/verify.ts";
export type { ProofStep, ProofVerdict, Proven, ProvenBlock, ProvenTransaction } from "./verdict.ts";
export { type ProofOptions, type VerifyProof, verifyProof } from "./verify.ts";
