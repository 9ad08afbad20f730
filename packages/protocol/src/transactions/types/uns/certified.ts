/** 2001/3, 2001/4 and 2001/6: certified mint, change and transfer of a token (transactions.md 6.6). */

import { fromHex } from "#primitives";
import type { ByteReader, ByteWriter } from "../../../bytes/cursor.ts";
import { present } from "../../../present.ts";
import { readAddress, writeAddress } from "../../addresses.ts";
import type { Asset, NftToken, TransactionBody } from "../../transaction.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { addressText, hexText, record, u63 } from "../members.ts";
import { nftSchema, readNft, writeNft } from "../nft/payload.ts";
import type { MemberSchema, TransactionType, TypeSchema } from "../type.ts";
import { untypedHex } from "../untyped.ts";
import { readCertificationPayload, writeCertificationPayload } from "./proofs/certification.ts";
import { readDemandPayload, writeDemandPayload } from "./proofs/demand.ts";
import { readSignature } from "./proofs/signature.ts";

/** Schema of a payload: it requires the members, but does not check most of them. */
const payload = (members: readonly string[], properties: Record<string, MemberSchema> = {}) => ({
  type: "object",
  required: members,
  properties,
});

/** Schema of a certified type; `required` are the members that each token must have. */
const certifiedSchema = (required: readonly (keyof NftToken)[]): TypeSchema => ({
  properties: {
    typeGroup: { const: TYPE_GROUPS.uns },
    amount: u63(0),
    recipientId: addressText,
    asset: record({
      nft: nftSchema(required),
      demand: record({
        payload: payload(["iss", "sub", "iat", "cryptoAccountAddress"]),
        signature: hexText,
      }),
      certification: record({
        payload: payload(["iss", "sub", "iat", "cost"], { cost: { notNegative: true } }),
        signature: hexText,
      }),
    }),
  },
});

/** @throws {Error} without an asset or a recipient, which the schema does not require (transactions.md 8.3) */
function writeCertified({ asset, recipientId }: TransactionBody, writer: ByteWriter): void {
  const { nft, demand, certification } = asset as Required<Asset>;
  writeNft(nft, writer);
  writeDemandPayload(demand.payload, writer);
  // Unlike other hexadecimal texts, this one may end with an odd digit.
  writer.bytes(fromHex(demand.signature));
  writeCertificationPayload(certification.payload, writer);
  writer.bytes(untypedHex(certification.signature, "signature"));
  writeAddress(writer, present(recipientId, "recipientId"));
}

function readCertified(reader: ByteReader) {
  const nft = readNft(reader);
  const demand = { payload: readDemandPayload(reader), signature: readSignature(reader) };
  const certification = { payload: readCertificationPayload(reader), signature: readSignature(reader) };
  return { asset: { nft, demand, certification }, recipientId: readAddress(reader) };
}

/** Reads a payload with the amount, which is not stored but equals the cost (transactions.md 6.6). */
function readPaidCertified(reader: ByteReader) {
  const certified = readCertified(reader);
  return { ...certified, amount: certified.asset.certification.payload.cost };
}

const certified = (
  type: number,
  key: string,
  required: readonly (keyof NftToken)[],
  read: TransactionType["read"],
  fee: bigint,
): TransactionType => ({
  typeGroup: TYPE_GROUPS.uns,
  type,
  key,
  schema: certifiedSchema(required),
  write: writeCertified,
  read,
  staticFee: () => fee,
});

const mint = certified(3, "UnsCertifiedNftMint", ["tokenId"], readPaidCertified, 100_000_000n);

export const unsCertifiedNftMint: TransactionType = {
  ...mint,
  schema: { ...mint.schema, required: ["asset"] },
};

export const unsCertifiedNftUpdate: TransactionType = certified(
  4,
  "UnsCertifiedNftUpdate",
  ["tokenId", "properties"],
  readPaidCertified,
  10_000_000n,
);

/** Its amount is zero, whatever the JSON has. */
export const unsCertifiedNftTransfer: TransactionType = certified(
  6,
  "UnsCertifiedNftTransfer",
  ["tokenId"],
  readCertified,
  100_000_000n,
);
