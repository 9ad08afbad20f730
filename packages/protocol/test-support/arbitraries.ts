/** Random members of transactions, as decoding returns them. */
import * as fc from "fast-check";
import { expect } from "vitest";
import {
  type Asset,
  addressFromPublicKey,
  decodeTransaction,
  encodeTransaction,
  type TransactionBody,
} from "../src/index.ts";

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString("hex"));

export const id = hex(32);

export const publicKey = hex(32).map((digits) => `02${digits}`);

export const address = publicKey.map((key) => addressFromPublicKey(key, 68));

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

/** Complete texts of Unicode, whose UTF-8 has at most `maxBytes`. */
export const text = (maxBytes: number, minLength = 0) =>
  fc.string({ unit: "binary", minLength, maxLength: Math.floor(maxBytes / 4) });

export const ascii = (minLength: number, maxLength: number) =>
  fc.string({ unit: "grapheme-ascii", minLength, maxLength });

/** Seconds that survive the conversion to a JavaScript number. */
export const time = fc.maxSafeNat();

const der = fc
  .uint8Array({ minLength: 0, maxLength: 80 })
  .map((rest) => Buffer.from([0x30, rest.length, ...rest]).toString("hex"));

/** Keys may be array indexes, which JavaScript puts first. */
const key = fc
  .oneof(
    text(255),
    fc.nat({ max: 2 ** 32 - 1 }).map(String),
    fc.constantFrom("4294967294", "4294967295", "01"),
  )
  .filter((name) => name !== "__proto__");

const properties = fc.dictionary(key, fc.oneof(text(1020), fc.constant(null)), {
  minKeys: 1,
  maxKeys: 20,
  noNullPrototype: true,
});

export const nft = fc
  .tuple(text(255, 1), id, fc.option(properties, { nil: undefined }))
  .map(([name, tokenId, present]) => ({ [name]: present ? { tokenId, properties: present } : { tokenId } }));

export const demand = fc.record({
  payload: fc.record({ iss: id, sub: id, iat: time, cryptoAccountAddress: address }),
  signature: der,
});

export const certification = fc.record({
  payload: fc.record({ sub: id, iss: id, iat: time, cost: u64 }),
  signature: der,
});

export const disclosure = fc.record({
  "disclose-demand": fc.record({
    payload: fc.record({
      explicitValue: fc.array(text(255), { maxLength: 12 }),
      type: fc.integer({ min: 0, max: 255 }),
      iss: id,
      sub: id,
      iat: time,
    }),
    signature: der,
  }),
  "disclose-demand-certification": fc.record({
    payload: fc.record({ sub: id, iss: id, iat: time }),
    signature: der,
  }),
});

export const ports = fc.dictionary(
  ascii(0, 20).filter((name) => name !== "__proto__"),
  fc.integer({ min: 0, max: 65535 }),
  { minKeys: 1, maxKeys: 10, noNullPrototype: true },
);

const envelope = fc.record({
  version: fc.constant(2),
  network: fc.constant(68),
  nonce: u64,
  senderPublicKey: publicKey,
  fee: u64,
  signature: hex(64),
});

/** Complete transaction of a type with random members. */
export const transactionOf = (
  typeGroup: number,
  type: number,
  members: fc.Arbitrary<Partial<TransactionBody>>,
): fc.Arbitrary<TransactionBody> =>
  fc
    .tuple(envelope, members)
    .map(([common, own]) => ({ ...common, typeGroup, type, amount: 0n, ...own }) as TransactionBody);

/** Transaction with one asset, for tests of single rules. */
export const around = (typeGroup: number, type: number, asset: Asset, members = {}): TransactionBody => ({
  version: 2,
  network: 68,
  typeGroup,
  type,
  nonce: 1n,
  senderPublicKey: `02${"11".repeat(32)}`,
  fee: 0n,
  amount: 0n,
  asset,
  ...members,
});

export const roundTrip = (transaction: TransactionBody): TransactionBody =>
  decodeTransaction(encodeTransaction(transaction));

/** Bytes after the common part (59 bytes) of an unsigned transaction without vendorField, in hexadecimal. */
export const payloadOf = (transaction: TransactionBody): string =>
  Buffer.from(encodeTransaction(transaction).subarray(59)).toString("hex");

/** Result of decoding a payload in hexadecimal. */
export function readPayload(typeGroup: number, type: number, payload: string): TransactionBody {
  const header = encodeTransaction(around(2001, 2, {}));
  const view = new DataView(header.buffer);
  view.setUint32(3, typeGroup, true);
  view.setUint16(7, type, true);
  return decodeTransaction(Buffer.concat([header, Buffer.from(payload, "hex")]));
}

/** Checks that random transactions are decoded from their bytes unchanged, or as `expected` returns. */
export function assertSurvive(
  transactions: fc.Arbitrary<TransactionBody>,
  expected: (transaction: TransactionBody) => TransactionBody = (transaction) => transaction,
): void {
  fc.assert(
    fc.property(transactions, (transaction) => {
      expect(roundTrip(transaction)).toEqual(expected(transaction));
    }),
  );
}
