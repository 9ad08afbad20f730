import { describe, expect, test } from "vitest";
import {
  concatBytes,
  decodeTransaction,
  encodeTransaction,
  hexToBytes,
  signTransaction,
  type TransactionBody,
  transactionFromBytes,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import { context, contextV1, sender, transfer, transferV1 } from "./fixtures.ts";

const schnorr = "ab".repeat(64);
const entry = (index: number) => index.toString(16).padStart(2, "0") + "cd".repeat(64);
const der = present(signTransaction(transfer(), sender, "ecdsa").signature, "signature");

/** Result of reading a signature part. */
function read(tail: string, body: TransactionBody = transfer()) {
  const bytes = concatBytes(encodeTransaction(body), hexToBytes(tail));
  const { signature, secondSignature, signatures } = decodeTransaction(bytes);
  return [signature, secondSignature, signatures];
}

describe("signatures of version 2 (transactions.md 5)", () => {
  test.each([
    ["none", "", [undefined, undefined, undefined]],
    ["Schnorr", schnorr, [schnorr, undefined, undefined]],
    ["two of Schnorr", schnorr + schnorr, [schnorr, schnorr, undefined]],
    ["entries", entry(2) + entry(0), [undefined, undefined, [entry(2), entry(0)]]],
    ["Schnorr and an entry", schnorr + entry(0), [schnorr, undefined, [entry(0)]]],
    ["two and an entry", schnorr + schnorr + entry(0), [schnorr, schnorr, [entry(0)]]],
    ["DER", der, [der, undefined, undefined]],
    ["two of DER", der + der, [der, der, undefined]],
    ["a Schnorr signature and a stray byte", `${schnorr}00`, [undefined, undefined, [`${schnorr}00`]]],
    ["DER, a separator and a block of bytes", `${der}ff0102`, [der, undefined, ["0102"]]],
    ["DER and a separator", `${der}ff`, [der, undefined, [""]]],
  ])("%s", (_, tail, expected) => {
    expect(read(tail)).toEqual(expected);
  });

  test.each([
    ["63 bytes", schnorr.slice(2)],
    ["one byte", "30"],
    ["three of Schnorr", schnorr + schnorr + schnorr],
    ["Schnorr and DER", schnorr + der],
    ["DER and Schnorr", der + schnorr],
    ["DER and a byte", `${der}00`],
    ["DER and an entry", der + entry(0)],
    // Also a multiple of 64.
    ["64 entries", Array.from({ length: 64 }, (_, index) => entry(index)).join("")],
  ])("%s cannot be read", (_, tail) => {
    expect(() => read(tail)).toThrow(RangeError);
  });

  test("An index of a signature of version 2 must be unique.", () => {
    expect(() => read(entry(1) + entry(1))).toThrow(
      expect.objectContaining({ code: "DuplicateParticipantInMultiSignatureError" }),
    );
    const bytes = concatBytes(encodeTransaction(transfer()), hexToBytes(entry(1) + entry(1)));
    expect(() => transactionFromBytes(bytes, context)).toThrow(
      expect.objectContaining({ code: "DuplicateParticipantInMultiSignatureError" }),
    );
  });
});

describe("signatures of version 1", () => {
  test("Signatures of version 1 are DER whatever their length.", () => {
    expect(read("", transferV1())).toEqual([undefined, undefined, undefined]);
    expect(read(der + der, transferV1())).toEqual([der, der, undefined]);
    // Read as DER: the length is the second byte.
    expect(() => read(schnorr, transferV1())).toThrow(RangeError);
  });

  test("The legacy tail of version 1 is one text, which the schema refuses.", () => {
    expect(read(`${der}ff${entry(0)}${entry(1)}`, transferV1())[2]).toEqual([entry(0) + entry(1)]);
    const bytes = concatBytes(encodeTransaction(transferV1()), hexToBytes(`${der}ff${entry(0)}${entry(1)}`));
    expect(() => transactionFromBytes(bytes, contextV1)).toThrow(
      expect.objectContaining({ code: "TransactionSchemaError" }),
    );
  });
});

describe("writing", () => {
  test("Hexadecimal is read up to the first invalid pair.", () => {
    const bytes = encodeTransaction(transfer({ signature: `${schnorr}zz11` }));
    expect(decodeTransaction(bytes).signature).toBe(schnorr);
  });

  test("An odd number of digits is refused.", () => {
    expect(() => encodeTransaction(transfer({ signature: "abc" }))).toThrow(RangeError);
    expect(() => encodeTransaction(transfer({ signatures: ["abc"] }))).toThrow(RangeError);
  });

  test("Parts of signatures can be omitted.", () => {
    const full = transfer({ signature: schnorr, secondSignature: schnorr, signatures: [entry(0)] });
    const bare = encodeTransaction(transfer());
    expect(encodeTransaction(full, { exclude: ["signature", "secondSignature", "signatures"] })).toEqual(
      bare,
    );
    expect(encodeTransaction(full, { exclude: ["signature", "secondSignature"] })).toHaveLength(
      bare.length + 65,
    );
    expect(encodeTransaction(full)).toHaveLength(bare.length + 193);
  });
});
