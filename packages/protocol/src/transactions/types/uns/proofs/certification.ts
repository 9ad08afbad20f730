/** Certifications of certified NFT transactions (transactions.md 12). */
import { type ByteReader, ByteWriter } from "../../../../bytes/cursor.ts";
import type { SignatureJob } from "../../../../crypto/signature-job.ts";
import type { KeyPair } from "../../../../identities/keys.ts";
import type { Certification, Demand, NftAsset } from "../../../transaction.ts";
import { untypedHex } from "../../untyped.ts";
import { certificationSubject } from "./demand.ts";
import { costOf, readTime, writeTime } from "./integers.ts";
import { payloadJob, signPayload, verifyPayloadJob } from "./signature.ts";

/** `sub`, `iss`, `iat`, cost: the layout of transactions.md 6.6, which is also signed. A demand has `iss` first. */
export function writeCertificationPayload(payload: Certification["payload"], writer: ByteWriter): void {
  writer.bytes(untypedHex(payload.sub, "sub"));
  writer.bytes(untypedHex(payload.iss, "iss"));
  writeTime(payload.iat, writer);
  writer.u64(costOf(payload.cost));
}

export const readCertificationPayload = (reader: ByteReader): Certification["payload"] => ({
  sub: reader.hex(32),
  iss: reader.hex(32),
  iat: readTime(reader),
  cost: reader.u64(),
});

/** The bytes that the certifier signs. */
export function certificationBytes(payload: Certification["payload"]): Uint8Array {
  const writer = new ByteWriter();
  writeCertificationPayload(payload, writer);
  return writer.finish();
}

/**
 * The certification of a demand.
 *
 * @param terms `iss` is the id of the certifier's own token, `iat` in seconds, `cost` in the smallest unit
 */
export function certify(
  nft: NftAsset,
  demand: Demand,
  { iss, iat, cost }: Omit<Certification["payload"], "sub">,
  keys: KeyPair,
): Certification {
  const payload = { sub: certificationSubject(nft, demand), iss, iat, cost };
  return { payload, signature: signPayload(certificationBytes(payload), keys) };
}

/** The check that the certification was signed with a key, in hexadecimal. */
export const certificationJob = ({ payload, signature }: Certification, publicKey: string): SignatureJob =>
  payloadJob(certificationBytes(payload), signature, publicKey);

/**
 * Returns true if the certification was signed with this key, in hexadecimal. Compare its `sub` with
 * `certificationSubject` to check that it belongs to the demand.
 */
export const verifyCertification = (certification: Certification, publicKey: string): boolean =>
  verifyPayloadJob(certificationJob(certification, publicKey));
