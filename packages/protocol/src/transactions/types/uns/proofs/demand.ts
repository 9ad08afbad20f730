/** Demands of certified NFT transactions (transactions.md 12). */
import { type ByteReader, ByteWriter } from "../../../../bytes/cursor.ts";
import { bytesToHex, concatBytes, hexToBytes } from "../../../../crypto/bytes.ts";
import { sha256 } from "../../../../crypto/hashes.ts";
import type { KeyPair } from "../../../../identities/keys.ts";
import { readAddress, writeAddress } from "../../../addresses.ts";
import type { Demand, NftAsset } from "../../../transaction.ts";
import { writeNft } from "../../nft/payload.ts";
import { untypedHex } from "../../untyped.ts";
import { readTime, writeTime } from "./integers.ts";
import { payloadJob, signPayload, verifyPayloadJob } from "./signature.ts";

/** `iss`, `sub`, `iat`, address: the layout of transactions.md 6.6, which is also signed. */
export function writeDemandPayload(payload: Demand["payload"], writer: ByteWriter): void {
  writer.bytes(untypedHex(payload.iss, "iss"));
  writer.bytes(untypedHex(payload.sub, "sub"));
  writeTime(payload.iat, writer);
  writeAddress(writer, payload.cryptoAccountAddress);
}

export const readDemandPayload = (reader: ByteReader): Demand["payload"] => ({
  iss: reader.hex(32),
  sub: reader.hex(32),
  iat: readTime(reader),
  cryptoAccountAddress: readAddress(reader),
});

/**
 * Returns the bytes that the demander signs: the NFT payload and the payload of the demand.
 *
 * @throws {Error} if a member cannot be encoded
 */
export function demandBytes(nft: NftAsset, payload: Demand["payload"]): Uint8Array {
  const writer = new ByteWriter();
  writeNft(nft, writer);
  writeDemandPayload(payload, writer);
  return writer.finish();
}

/** The demand for a token and its properties, signed by the demander. */
export const signDemand = (nft: NftAsset, payload: Demand["payload"], keys: KeyPair): Demand => ({
  payload,
  signature: signPayload(demandBytes(nft, payload), keys),
});

/**
 * Returns true if the demand was signed with this key, in hexadecimal. Factories may check it; a node never
 * does: only the certification covers the demand (trap A10).
 */
export const verifyDemand = (nft: NftAsset, { payload, signature }: Demand, publicKey: string): boolean =>
  verifyPayloadJob(payloadJob(demandBytes(nft, payload), signature, publicKey));

/** The required `certification.payload.sub`: hash of the demand with its signature, in hexadecimal. */
export const certificationSubject = (nft: NftAsset, { payload, signature }: Demand): string =>
  bytesToHex(sha256(concatBytes(demandBytes(nft, payload), hexToBytes(signature))));
