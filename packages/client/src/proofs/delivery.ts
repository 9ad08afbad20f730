/** Verifies deliveries of webhooks with proofs (webhooks.md 7.5). */
import {
  decodeFullHeader,
  decodeTransaction,
  hexToBytes,
  type Transaction,
  transactionToJson,
} from "@uniknode/protocol";
import type { Delivery } from "../deliveries/delivery.ts";
import {
  type ReceivedDelivery,
  type VerifiedDelivery,
  type VerifyOptions,
  verifyDelivery as verifySignature,
} from "../deliveries/verify.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { isRecord } from "./values.ts";
import type { ProofVerdict, Proven } from "./verdict.ts";
import { verifyProof } from "./verify.ts";

export type DeliveryProofOptions = VerifyOptions & {
  /** Checkpoint from `parseCheckpoint`, or of an earlier verdict. */
  readonly checkpoint: Checkpoint;
  /** Time of the network, Unix time in milliseconds. Default: the clock. A dev chain whose clock was moved has another time. */
  readonly networkMs?: number;
};

export type ProvenDelivery = {
  readonly delivery: VerifiedDelivery;
  /** `none` with the scheme `authorization`, which has no signature. */
  readonly signature: "valid" | "none";
  /**
   * `final`: the network has the fact. `included`: a delegate signed a block with the fact; do not act on it. `none`: nothing is
   * proven, and `reason` has the cause.
   */
  readonly proof: "final" | "included" | "none";
  /**
   * Part of the delivery that is proven. `data`: all of `data` and the block. `transaction`: `data` names a transaction of the
   * block, and the node claims the rest. `block`: only the block exists. Absent if nothing is proven.
   */
  readonly proves?: "data" | "transaction" | "block";
  /** Cause of `none`. */
  readonly reason?: string;
  /** Path of the proof, if the body has a link to it; verify the response with `verifyProof`. */
  readonly link?: string;
  /** The proven block and transaction; absent if nothing is proven. */
  readonly proven?: Proven;
};

/**
 * Verifies the signature and the proof of a delivery. Without a proof, or with a false one, the delivery is trusted as far as the
 * node is.
 *
 * @throws {DeliveryError} when the delivery must be refused; `code` is the reason
 * @throws {TypeError} when the receiver itself is wrong: a malformed secret, or a body that is not raw
 */
export async function verifyDelivery(
  received: ReceivedDelivery,
  { checkpoint, networkMs, ...options }: DeliveryProofOptions,
): Promise<ProvenDelivery> {
  const delivery = await verifySignature(received, options);
  const signature = options.scheme === "authorization" ? "none" : "valid";
  const nowMs = networkMs ?? options.nowMs?.() ?? Date.now();
  return { delivery, signature, ...proofOf(delivery, checkpoint, nowMs) };
}

/** Events whose content is a transaction. */
const EVENTS_OF_TRANSACTIONS = ["transaction.applied", "delegate.registered", "delegate.resigned"];

/** Types of the transactions that cause an event, as GROUP/TYPE. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  "delegate.registered": ["1/2", "2001/1"],
  "delegate.resigned": ["1/7", "2001/2"],
  "unik.minted": ["2000/0", "2001/3"],
  "unik.updated": ["2000/1", "2001/4"],
  "unik.transferred": ["2000/2", "2001/6"],
  "unik.disclosed": ["2001/0"],
};

/** First character of a vote, by the event that it causes. */
const SIGNS: Readonly<Record<string, string>> = { "wallet.vote": "+", "wallet.unvote": "-" };

function causes({ typeGroup, type, asset }: Omit<Transaction, "id">, event: string): boolean {
  const sign = SIGNS[event];
  if (sign !== undefined) return asset?.votes?.[0]?.startsWith(sign) === true;
  return TYPES[event]?.includes(`${typeGroup}/${type}`) ?? true;
}

type ProofResult = Omit<ProvenDelivery, "delivery" | "signature">;

function proofOf(delivery: Delivery, checkpoint: Checkpoint, nowMs: number): ProofResult {
  const { proof } = delivery;
  if (proof === undefined) return { proof: "none", reason: "the delivery has no proof" };
  if (delivery.event.endsWith(".reverted")) return { proof: "none", reason: "a retraction has no proof" };
  if (isRecord(proof) && typeof proof.link === "string") {
    return { proof: "none", reason: "the proof is too long: request it", link: proof.link };
  }
  const verdict = verifyProof(proof, checkpoint, { nowMs });
  if (verdict.verdict === "refused") return { proof: "none", reason: `${verdict.step}: ${verdict.reason}` };
  const proves = compare(delivery, verdict, proof as { readonly headers: readonly string[] });
  if (proves === undefined) {
    return { proof: "none", reason: "the proof is true, but of another fact than the delivery" };
  }
  return { proof: verdict.verdict, proves, proven: verdict };
}

type Compared = Exclude<ProofVerdict, { readonly verdict: "refused" }>;

/** Returns the part of a delivery that a proof is about; undefined if it contradicts the delivery. */
function compare(
  { event, height, blockId, data, truncated }: Delivery,
  { block, transaction }: Compared,
  { headers: [header = ""] }: { readonly headers: readonly string[] },
): ProvenDelivery["proves"] | undefined {
  const content: Readonly<Record<string, unknown>> = isRecord(data) ? data : {};
  // The event names the block that made another one final; its content is that other block.
  const isOther = event === "block.finalized";
  if (!isOther && (block.id !== blockId || block.height !== height)) return undefined;
  if (event === "block.applied" || isOther) {
    return isEqual(decodeFullHeader(hexToBytes(header)), content) ? "data" : undefined;
  }
  if (!transaction) return "block";
  const { bytes, id } = transaction;
  const isOfTransaction = EVENTS_OF_TRANSACTIONS.includes(event);
  const named = isOfTransaction ? content : content.transaction;
  if (!isRecord(named) || named.id !== id) return undefined;
  const decoded = decodeOrUndefined(bytes);
  if (!decoded) return "transaction";
  if (!causes(decoded, event)) return undefined;
  if (truncated) return "transaction";
  const { typeGroup } = decoded;
  const place = { blockId: block.id, sequence: block.ids.indexOf(id) };
  if (!isEqual({ ...transactionToJson({ ...decoded, id }), typeGroup, ...place }, named)) return undefined;
  return isOfTransaction ? "data" : "transaction";
}

/** Returns undefined for a transaction of a type that this version does not know. */
function decodeOrUndefined(bytes: string) {
  try {
    return decodeTransaction(hexToBytes(bytes));
  } catch {
    return undefined;
  }
}

/** Compares a decoded value with JSON: 64-bit numbers are decimal text there, and undefined members are missing. */
function isEqual(decoded: unknown, json: unknown): boolean {
  if (typeof decoded === "bigint") return `${decoded}` === json;
  if (typeof decoded !== "object" || decoded === null) return decoded === json;
  if (typeof json !== "object" || json === null || Array.isArray(decoded) !== Array.isArray(json))
    return false;
  const members = Object.entries(decoded).filter(([, member]) => member !== undefined);
  const others = json as Readonly<Record<string, unknown>>;
  return (
    members.length === Object.keys(others).length &&
    members.every(([name, member]) => Object.hasOwn(others, name) && isEqual(member, others[name]))
  );
}
