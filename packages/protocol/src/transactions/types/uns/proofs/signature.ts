/** Signatures of UNS payloads: ECDSA in DER over the SHA-256 of the bytes (transactions.md 12). */
import type { ByteReader } from "../../../../bytes/cursor.ts";
import { bytesToHex, hexToBytes } from "../../../../crypto/bytes.ts";
import { sha256 } from "../../../../crypto/hashes.ts";
import type { SignatureJob } from "../../../../crypto/signature-job.ts";
import { signEcdsa, verifyEcdsa } from "../../../../crypto/signatures.ts";
import type { KeyPair } from "../../../../identities/keys.ts";

/** Signs bytes; the signature is hexadecimal. */
export const signPayload = (bytes: Uint8Array, { privateKey }: KeyPair): string =>
  bytesToHex(signEcdsa(sha256(bytes), privateKey));

/** The check of a signature; it and the public key are in hexadecimal. */
export const payloadJob = (bytes: Uint8Array, signature: string, publicKey: string): SignatureJob => ({
  hash: sha256(bytes),
  signature: hexToBytes(signature),
  publicKey: hexToBytes(publicKey),
});

/** Always ECDSA: 64 bytes are no Schnorr signature here, unlike those of a transaction (`verifyJob`). */
export const verifyPayloadJob = ({ hash, signature, publicKey }: SignatureJob): boolean =>
  verifyEcdsa(hash, signature, publicKey);

/** A signature inside a payload, in hexadecimal. Its second byte gives its length (transactions.md 6.6). */
export function readSignature(reader: ByteReader): string {
  const length = reader.peek(1);
  if (length === undefined) throw new RangeError("a DER signature is missing");
  return reader.hex(2 + length);
}
