/** The generator's signature (blocks.md 3) as a job for any thread, and all signatures of a block as jobs between parsing and `checkBlock`. */
import { bytesToHex, hexToBytes } from "../crypto/bytes.ts";
import { isReadableDer } from "../crypto/der.ts";
import { sha256 } from "../crypto/hashes.ts";
import type { SignatureJob, SignatureVerdict } from "../crypto/signature-job.ts";
import { signEcdsa, verifyEcdsa } from "../crypto/signatures.ts";
import type { Network } from "../networks/network.ts";
import type { TransactionContext } from "../transactions/activation.ts";
import { signatureJob, verifyJob } from "../transactions/verify.ts";
import type { Block } from "./block.ts";
import { encodeUnsignedHeader, type HeaderFields } from "./header.ts";

/** The job of verifying a header's signature. */
export const headerSignatureJob = (header: HeaderFields, network: Network): SignatureJob => ({
  hash: sha256(encodeUnsignedHeader(header, network)),
  signature: hexToBytes(header.blockSignature),
  publicKey: hexToBytes(header.generatorPublicKey),
});

/** The job of verifying the signature of a header that `decodeFullHeader` decoded from these bytes. */
export function fullHeaderSignatureJob(header: HeaderFields, bytes: Uint8Array): SignatureJob {
  const signature = hexToBytes(header.blockSignature);
  return {
    hash: sha256(bytes.subarray(0, bytes.length - signature.length)),
    signature,
    publicKey: hexToBytes(header.generatorPublicKey),
  };
}

/** Always verifies ECDSA: 64 bytes of DER are not a Schnorr signature here. */
export function verifyHeaderJob({ hash, signature, publicKey }: SignatureJob): SignatureVerdict {
  if (verifyEcdsa(hash, signature, publicKey)) return "valid";
  return isReadableDer(signature) ? "invalid" : "unreadable";
}

/** Signature over the hash of the header without signature, hexadecimal. */
export const signHeader = (
  header: Omit<HeaderFields, "blockSignature">,
  privateKey: Uint8Array,
  network: Network,
): string => bytesToHex(signEcdsa(sha256(encodeUnsignedHeader(header, network)), privateKey));

/** A transaction whose result does not depend on its signature has the result in place of a job. */
type BlockJobs = { header: SignatureJob; transactions: (SignatureJob | boolean)[] };

type BlockVerdicts = { header: SignatureVerdict; transactions: boolean[] };

/** The jobs that remain after parsing without `checkSignature`. */
export const blockJobs = ({ header, transactions }: Block, context: TransactionContext): BlockJobs => ({
  header: headerSignatureJob(header, context.network),
  transactions: transactions.map((transaction) => signatureJob(transaction, context)),
});

export const verifyBlockJobs = ({ header, transactions }: BlockJobs): BlockVerdicts => ({
  header: verifyHeaderJob(header),
  transactions: transactions.map((job) => (typeof job === "boolean" ? job : verifyJob(job))),
});

/** The block with the results for its transactions; that for the header is an option of `checkBlock`. */
export const withVerdicts = <B extends Block>(block: B, verdicts: BlockVerdicts): B => ({
  ...block,
  transactions: block.transactions.map((transaction, index) => ({
    ...transaction,
    isVerified: verdicts.transactions[index] === true,
  })),
});
