/** Disclosure of explicit values: demand and certification (transactions.md 6.7 and 12). */
import { type ByteReader, ByteWriter } from "../../../../bytes/cursor.ts";
import { bytesToHex } from "../../../../crypto/bytes.ts";
import { sha256 } from "../../../../crypto/hashes.ts";
import type { SignatureJob } from "../../../../crypto/signature-job.ts";
import type { KeyPair } from "../../../../identities/keys.ts";
import type { DiscloseCertification, DiscloseDemand } from "../../../transaction.ts";
import { untypedHex, untypedInteger, untypedText } from "../../untyped.ts";
import { readTime, writeTime } from "./integers.ts";
import { payloadJob, signPayload, verifyPayloadJob } from "./signature.ts";

type DemandPayload = DiscloseDemand["payload"];
type CertificationPayload = DiscloseCertification["payload"];

/** The stored values: their number, then each with its length before it. Both are written modulo 256. */
export function writeExplicitValues(values: DemandPayload["explicitValue"], writer: ByteWriter): void {
  if (!Array.isArray(values)) throw new TypeError("the explicit values must be an array");
  writer.u8(values.length);
  for (const value of values) {
    const bytes = untypedText(value, "an explicit value");
    writer.u8(bytes.length);
    writer.bytes(bytes);
  }
}

export const readExplicitValues = (reader: ByteReader): string[] =>
  Array.from({ length: reader.u8() }, () => reader.text(reader.u8()));

/** `type`, `iss`, `sub`, `iat`: the part after the values, both stored and signed. */
export function writeDiscloser({ type, iss, sub, iat }: DemandPayload, writer: ByteWriter): void {
  writer.u8(untypedInteger(type, "type"));
  writer.bytes(untypedHex(iss, "iss"));
  writer.bytes(untypedHex(sub, "sub"));
  writeTime(iat, writer);
}

export const readDiscloser = (reader: ByteReader): Omit<DemandPayload, "explicitValue"> => ({
  type: reader.u8(),
  iss: reader.hex(32),
  sub: reader.hex(32),
  iat: readTime(reader),
});

/** The bytes that the discloser signs: the values without separators, then the rest. */
export function discloseDemandBytes(payload: DemandPayload): Uint8Array {
  const writer = new ByteWriter();
  for (const value of payload.explicitValue) writer.bytes(untypedText(value, "an explicit value"));
  writeDiscloser(payload, writer);
  return writer.finish();
}

export const signDiscloseDemand = (payload: DemandPayload, keys: KeyPair): DiscloseDemand => ({
  payload,
  signature: signPayload(discloseDemandBytes(payload), keys),
});

/** The check that the demand was signed with a key, in hexadecimal. */
export const discloseDemandJob = ({ payload, signature }: DiscloseDemand, publicKey: string): SignatureJob =>
  payloadJob(discloseDemandBytes(payload), signature, publicKey);

/** Returns true if the demand was signed with this key, in hexadecimal. */
export const verifyDiscloseDemand = (demand: DiscloseDemand, publicKey: string): boolean =>
  verifyPayloadJob(discloseDemandJob(demand, publicKey));

/** The required `disclose-demand-certification.payload.sub`, in hexadecimal. */
export const discloseSubject = (payload: DemandPayload): string =>
  bytesToHex(sha256(discloseDemandBytes(payload)));

/** The stored layout (transactions.md 6.7). */
export function writeDiscloseCertificationPayload(
  { sub, iss, iat }: CertificationPayload,
  writer: ByteWriter,
) {
  writer.bytes(untypedHex(sub, "sub"));
  writer.bytes(untypedHex(iss, "iss"));
  writeTime(iat, writer);
}

export const readDiscloseCertificationPayload = (reader: ByteReader): CertificationPayload => ({
  sub: reader.hex(32),
  iss: reader.hex(32),
  iat: readTime(reader),
});

/** The bytes that the certifier signs: `iss` first, although `sub` is first in the stored layout. */
export function discloseCertificationBytes({ iss, sub, iat }: CertificationPayload): Uint8Array {
  const writer = new ByteWriter();
  writer.bytes(untypedHex(iss, "iss"));
  writer.bytes(untypedHex(sub, "sub"));
  writeTime(iat, writer);
  return writer.finish();
}

/** @param terms `iss` is the id of the certifier's own token, `iat` in seconds */
export function certifyDisclosure(
  demand: DiscloseDemand,
  { iss, iat }: Omit<CertificationPayload, "sub">,
  keys: KeyPair,
): DiscloseCertification {
  const payload = { sub: discloseSubject(demand.payload), iss, iat };
  return { payload, signature: signPayload(discloseCertificationBytes(payload), keys) };
}

/** The check that the certification was signed with a key, in hexadecimal. */
export const discloseCertificationJob = (
  { payload, signature }: DiscloseCertification,
  publicKey: string,
): SignatureJob => payloadJob(discloseCertificationBytes(payload), signature, publicKey);

/** Returns true if the certification was signed with this key, in hexadecimal. */
export const verifyDiscloseCertification = (
  certification: DiscloseCertification,
  publicKey: string,
): boolean => verifyPayloadJob(discloseCertificationJob(certification, publicKey));
