import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bytesToHex,
  concatBytes,
  decodeTransaction,
  encodeTransaction,
  hexToBytes,
  type Transaction,
  transactionFromBytes,
  transactionFromJson,
  transactionToJson,
  transactionTypes,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import {
  bodyOf,
  context,
  coreTransaction,
  senderPublicKey,
  signed,
  transfer,
  transferV1,
} from "./fixtures.ts";

describe("encoding and decoding", () => {
  test("Property: decoding reverses encoding, for every core type.", () => {
    fc.assert(
      fc.property(coreTransaction, (transaction) => {
        expect(decodeTransaction(encodeTransaction(transaction))).toEqual(transaction);
      }),
    );
  });

  test("Property: JSON and bytes yield the same normal form.", () => {
    fc.assert(
      fc.property(coreTransaction, (transaction) => {
        const bytes = encodeTransaction(transaction);
        const fromBytes = transactionFromBytes(bytes, context);
        expect(fromBytes.bytes).toEqual(bytes);
        expect(fromBytes.isVerified).toBe(false);
        expect(transactionFromJson(transactionToJson(fromBytes.data), context)).toEqual(fromBytes);
      }),
    );
  });

  test("Property: the parser throws only its own errors for any bytes.", () => {
    const altered = fc
      .tuple(coreTransaction, fc.nat(), fc.nat(255), fc.nat(3))
      .map(([body, at, byte, cut]) => {
        const bytes = encodeTransaction(body);
        bytes[at % bytes.length] = byte;
        return bytes.subarray(0, bytes.length - cut);
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), altered), (bytes) => {
        try {
          const { data, bytes: canonical } = transactionFromBytes(bytes, context);
          expect(transactionFromBytes(canonical, context).data).toEqual(data);
        } catch (error) {
          expect(error).toHaveProperty("name", "TransactionError");
        }
      }),
    );
  });

  test("Every type has one key and one pair of numbers.", () => {
    expect(transactionTypes).toHaveLength(28);
    expect(new Set(transactionTypes.map(({ key }) => key)).size).toBe(28);
    expect(new Set(transactionTypes.map(({ typeGroup, type }) => `${typeGroup}/${type}`)).size).toBe(28);
  });

  test("64-bit values are written modulo 2^64, and read unsigned", () => {
    const { fee, amount } = decodeTransaction(
      encodeTransaction(transfer({ fee: -1n, amount: 2n ** 64n + 5n })),
    );
    expect({ fee, amount }).toEqual({ fee: 2n ** 64n - 1n, amount: 5n });
  });

  test("Version 1 stores the type in one byte, and a vote gets its sender as recipient.", () => {
    const bytes = encodeTransaction(transferV1());
    expect(bytesToHex(bytes.subarray(0, 8))).toBe("ff01440064000000");
    const { nonce: _nonce, ...vote } = bodyOf(3, {
      version: 1,
      timestamp: 7,
      asset: { votes: [`+${senderPublicKey}`] },
    });
    const decoded = decodeTransaction(encodeTransaction(vote));
    expect(decoded).toEqual({ ...vote, recipientId: transfer().recipientId });
    // Without a network there is no address.
    expect(decodeTransaction(encodeTransaction({ ...vote, network: 0 })).recipientId).toBeUndefined();
  });

  test("A registration of version 1 has a lifetime, and a plus before its keys.", () => {
    const keysgroup = [`+${senderPublicKey}`, `+${"03".repeat(33)}`];
    const { nonce: _nonce, ...registration } = bodyOf(4, {
      version: 1,
      timestamp: 7,
      asset: { multiSignatureLegacy: { min: 2, lifetime: 24, keysgroup } },
    });
    const bytes = encodeTransaction(registration);
    expect(bytesToHex(bytes.subarray(50, 53))).toBe("020218");
    expect(decodeTransaction(bytes)).toEqual(registration);
  });
});

describe("bytes that are not canonical", () => {
  const bytes = hexToBytes(bytesToHex(encodeTransaction(signed())));
  const idOf = (altered: Uint8Array) => transactionFromBytes(altered, context).data.id;

  test("The marker is not part of the id.", () => {
    const altered = bytes.slice();
    altered[0] = 0;
    const transaction = transactionFromBytes(altered, context);
    expect(transaction.data).toEqual(signed());
    expect(transaction.isVerified).toBe(true);
    expect(transaction.bytes).toEqual(bytes);
  });

  test("A type without vendorField skips one.", () => {
    const resignation = encodeTransaction(bodyOf(7, { signature: "ab".repeat(64) }));
    const withText = concatBytes(resignation.subarray(0, 58), hexToBytes("026869"), resignation.subarray(59));
    expect(idOf(withText)).toBe(idOf(resignation));
    expect(transactionFromBytes(withText, context).data.vendorField).toBeUndefined();
  });

  test("Ill-formed UTF-8 is replaced, which changes the id and may exceed the limit.", () => {
    const withText = (text: string) => {
      const body = encodeTransaction(transfer({ vendorField: "a".repeat(text.length / 2), ...signature }));
      body.set(hexToBytes(text), 59);
      return body;
    };
    const signature = { signature: "ab".repeat(64) };
    expect(transactionFromBytes(withText("c328"), context).data.vendorField).toBe("�(");
    expect(() => transactionFromBytes(withText("ff".repeat(86)), context)).toThrow(
      expect.objectContaining({ code: "TransactionSchemaError" }),
    );
  });

  test("Only the low half of a vote's direction counts.", () => {
    const votes = (direction: number) => {
      const vote = encodeTransaction(
        bodyOf(3, { asset: { votes: [`+${senderPublicKey}`] }, signature: "ab".repeat(64) }),
      );
      vote[60] = direction;
      return present(transactionFromBytes(vote, context).data.asset?.votes?.[0], "an item of votes")[0];
    };
    expect([0x01, 0x11, 0xf1].map(votes)).toEqual(["+", "+", "+"]);
    expect([0x00, 0x10, 0x02, 0xff].map(votes)).toEqual(["-", "-", "-", "-"]);
  });

  test("A username is read by characters, whose continuation bytes are not checked.", () => {
    const registration = (username: string, length = username.length / 2) => {
      const body = encodeTransaction(
        bodyOf(2, { asset: { delegate: { username: "x".repeat(length) } }, signature: "ab".repeat(64) }),
      );
      return concatBytes(body.subarray(0, 60), hexToBytes(username), body.subarray(body.length - 64));
    };
    // An overlong "a": one character of two bytes.
    const overlong = transactionFromBytes(registration("c1a1", 1), context);
    expect(overlong.data.asset?.delegate?.username).toBe("a");
    expect(overlong.bytes).toEqual(registration("61"));
    expect(() => transactionFromBytes(registration("80"), context)).toThrow(
      expect.objectContaining({ code: "InvalidTransactionBytesError" }),
    );
  });
});

describe("order of properties (transactions.md 11)", () => {
  const tokenId = "ab".repeat(32);
  const mint = (properties: Record<string, string | null>): Transaction => ({
    ...bodyOf(0, { typeGroup: 2000, asset: { nft: { unik: { tokenId, properties } } } }),
    signature: "ab".repeat(64),
    id: "",
  });
  const propertiesOf = (transaction: Transaction) =>
    Object.keys(
      present(decodeTransaction(encodeTransaction(transaction)).asset?.nft?.unik, "unik")
        .properties as object,
    );

  test("Array indexes come first in ascending order, all others in insertion order.", () => {
    const properties = JSON.parse('{"b":"","01":"","4294967295":"","10":"","2":"","a":"","4294967294":""}');
    const order = ["2", "10", "4294967294", "b", "01", "4294967295", "a"];
    expect(propertiesOf(mint(properties))).toEqual(order);
  });

  test("Received keys b and 1 have the id of 1 and b.", () => {
    const ordered = encodeTransaction(mint({ 1: "x", b: "y" }));
    const text = bytesToHex(ordered).replace("01310100780162010079", "01620100790131010078");
    expect(text).not.toBe(bytesToHex(ordered));
    expect(transactionFromBytes(hexToBytes(text), context)).toEqual(transactionFromBytes(ordered, context));
  });

  test("A repeated key keeps its first position and gets its last value.", () => {
    const bytes = encodeTransaction(mint({ a: "1", b: "2", c: "3" }));
    const text = bytesToHex(bytes).replace("0163010033", "0161010033");
    const { data } = transactionFromBytes(hexToBytes(text), context);
    expect(Object.entries(present(data.asset?.nft?.unik?.properties, "properties"))).toEqual([
      ["a", "3"],
      ["b", "2"],
    ]);
  });

  test("Property: encoding in the order of decoding is stable.", () => {
    const key = fc.oneof(fc.stringMatching(/^[0-9]{1,11}$/), fc.stringMatching(/^[a-z./]{1,9}$/));
    const value = fc.option(fc.string({ maxLength: 20 }), { nil: null });
    fc.assert(
      fc.property(
        fc.dictionary(key, value, { minKeys: 1, maxKeys: 12, noNullPrototype: true }),
        (properties) => {
          const bytes = encodeTransaction(mint(properties));
          const { data, bytes: canonical } = transactionFromBytes(bytes, context);
          expect(canonical).toEqual(bytes);
          expect(Object.entries(present(data.asset?.nft?.unik?.properties, "properties"))).toEqual(
            Object.entries(properties),
          );
        },
      ),
    );
  });
});
