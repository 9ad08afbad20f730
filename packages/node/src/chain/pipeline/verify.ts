/**
 * Second step of the pipeline: all checks that need neither the state nor the chain (consensus.md 6.1). The
 * signatures of many blocks are sent to the verifier together.
 */
import {
  type BlockFault,
  type BlockHeader,
  checkBlock,
  createSlots,
  decidedVerdict,
  type EncodedBlock,
  isReadableDer,
  type Network,
  type SealedTransaction,
  type SignatureVerdict,
  sha256,
  signatureJob,
  withVerdicts,
} from "@uniknode/protocol";
import { CodedError } from "../../platform/coded-error.ts";
import { type SignatureCheck, schemeOf } from "../../verification/packed-checks.ts";
import type { Verifier } from "../../verification/verifier.ts";
import { type ReceivedBlock, receiveMade } from "./receive.ts";

/** A block whose transactions have their verification result, with the faults of the block. */
export type VerifiedBlock = {
  readonly block: ReceivedBlock;
  readonly faults: readonly BlockFault[];
  /** The signatures of the block were not checked: they are assumed to be valid. */
  readonly isAssumed: boolean;
};

/** A transaction has a signature whose length cannot be determined, so that its block cannot be read. */
export class UnreadableSignatureError extends CodedError<"UNREADABLE_SIGNATURE"> {
  constructor() {
    super("UNREADABLE_SIGNATURE", "a transaction has a signature that is not valid DER", {
      isRetryable: false,
    });
  }
}

export type VerifyDeps = {
  readonly network: Network;
  readonly verifier: Verifier;
  /** Verifies in advance the signatures that depend on wallets, before the rules need their verdicts. */
  readonly verifyAhead?: (transactions: Iterable<SealedTransaction>) => Promise<void>;
  /** Milliseconds since 1970: blocks of later slots are invalid. */
  readonly now: () => number;
};

const PUBLIC_KEY_BYTES = 33;

/**
 * Verifies blocks; the result for an unreadable block is an error.
 *
 * @param assumes returns true if the signatures of a block are assumed to be valid
 * @throws {Error} when the verifier has ended
 */
export async function verifyBlocks(
  blocks: readonly ReceivedBlock[],
  { network, verifier, verifyAhead, now }: VerifyDeps,
  assumes: (header: BlockHeader) => boolean = () => false,
): Promise<(VerifiedBlock | UnreadableSignatureError)[]> {
  const checks = blocks.map((block) =>
    assumes(block.header) ? assumedChecks(block, network) : checksOf(block, network),
  );
  const signatures = checks.flatMap((check) => check.signatures);
  const checked = checks.filter(({ isAssumed }) => !isAssumed);
  const [verdicts] = await Promise.all([
    signatures.length > 0 ? verifier.verify(signatures) : [],
    verifyAhead?.(checked.flatMap(({ block }) => block.transactions)),
  ]);
  const remaining = verdicts.values();
  const slots = createSlots(network);
  return checks.map(({ block: received, signatures, decided, isAssumed }) => {
    const [header = "valid", ...transactions] = signatures.map((check) =>
      verdictOf(check, remaining.next().value === true),
    );
    if (transactions.includes("unreadable")) {
      return new UnreadableSignatureError();
    }
    const given = transactions.values();
    const verdicts = {
      header,
      transactions: decided.map((verdict) => verdict ?? given.next().value === "valid"),
    };
    const block = withVerdicts(received, verdicts);
    const faults = checkBlock(block, { network, slots, now: now(), headerSignature: header });
    return { block, faults, isAssumed };
  });
}

/** A block that this node has just signed. Its transactions were verified before. */
export function forgedBlock(block: EncodedBlock, network: Network, now: number): VerifiedBlock {
  const received = receiveMade(block, network);
  const transactions = received.transactions.map(() => true);
  const verified = withVerdicts(received, { header: "valid", transactions });
  const faults = checkBlock(verified, { network, now, headerSignature: "valid" });
  return { block: verified, faults, isAssumed: false };
}

type BlockChecks = {
  block: ReceivedBlock;
  /** Check of the header, then of each transaction whose signature must be checked. */
  signatures: SignatureCheck[];
  /** Verdicts by transaction that do not depend on a signature. */
  decided: (boolean | undefined)[];
  isAssumed: boolean;
};

/** Returns every signature of a block that must be checked, and what is decided without one. */
export function checksOf(block: ReceivedBlock, network: Network): BlockChecks {
  const context = { network, height: block.readAt };
  const signatures = [headerCheck(block)];
  const decided = block.transactions.map((transaction) => {
    const job = signatureJob(transaction, context);
    if (typeof job === "boolean") return job;
    signatures.push({ ...job, scheme: schemeOf(job) });
    return undefined;
  });
  return { block, signatures, decided, isAssumed: false };
}

/** Returns no checks: everything that depends on a signature counts as valid. */
function assumedChecks(block: ReceivedBlock, network: Network): BlockChecks {
  const context = { network, height: block.readAt };
  const decided = block.transactions.map((transaction) => decidedVerdict(transaction, context) ?? true);
  return { block, signatures: [], decided, isAssumed: true };
}

/** The generator signs the header without the signature, which comes last (blocks.md 1 and 3). */
export function headerCheck({ header, headerBytes }: ReceivedBlock): SignatureCheck {
  const signatureAt = headerBytes.length - header.blockSignature.length / 2;
  return {
    scheme: "ecdsa",
    hash: sha256(headerBytes.subarray(0, signatureAt)),
    signature: headerBytes.subarray(signatureAt),
    publicKey: headerBytes.subarray(signatureAt - PUBLIC_KEY_BYTES, signatureAt),
  };
}

function verdictOf({ scheme, signature }: SignatureCheck, isValid: boolean): SignatureVerdict {
  if (isValid) return "valid";
  return scheme === "schnorr" || isReadableDer(signature) ? "invalid" : "unreadable";
}
