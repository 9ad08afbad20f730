import { describe, expect, test } from "vitest";
import {
  bigintFromJson,
  bytesToHex,
  createNetwork,
  encodeTransaction,
  hexToBytes,
  presets,
  type SealedTransaction,
  sealedFromTrustedBytes,
  sha256,
  signatureJob,
  signTransaction,
  transactionFromBytes,
  transactionFromJson,
  transactionToJson,
  utf8ToBytes,
} from "../../src/index.ts";
import { transactionFromBlock } from "../../src/transactions/parse.ts";
import { verifyJob } from "../../src/transactions/verify.ts";
import {
  addressOn,
  bodyOf,
  context,
  contextV1,
  sender,
  senderPublicKey,
  signed,
  transfer,
  transferV1,
} from "./fixtures.ts";

const json = (changes: Record<string, unknown> = {}) => ({ ...transactionToJson(signed()), ...changes });
const refusal = (code: string) => expect.objectContaining({ name: "TransactionError", code });
const parse = (changes: Record<string, unknown>) => transactionFromJson(json(changes), context);

describe("from JSON", () => {
  test("The result from JSON is that of the bytes, never the input.", () => {
    const transaction = parse({ id: null, typeGroup: 1, blockId: "1", asset: { votes: [] }, timestamp: 5 });
    expect(transaction).toEqual(transactionFromBytes(encodeTransaction(signed()), context));
    expect(transaction.isVerified).toBe(true);
  });

  test("The input does not change.", () => {
    const input = json({
      senderPublicKey: senderPublicKey.toUpperCase(),
      fee: 10_000_000,
      unknown: { x: [1] },
    });
    const before = structuredClone(input);
    expect(transactionFromJson(input, context).data).toEqual(signed());
    expect(input).toEqual(before);
  });

  test("An absent network and group are the configured network and the core.", () => {
    const { network: _network, ...input } = json();
    expect(transactionFromJson(input, context).data).toEqual(signed());
  });

  test("The member signSignature is another name of secondSignature, and takes precedence.", () => {
    const [one, two] = ["ab".repeat(64), "cd".repeat(64)];
    expect(parse({ signSignature: one }).data.secondSignature).toBe(one);
    expect(parse({ signSignature: one, secondSignature: two }).data.secondSignature).toBe(two);
  });

  test.each([
    [null, "UnkownTransactionError"],
    [[], "UnkownTransactionError"],
    ["transfer", "UnkownTransactionError"],
    [json({ type: 11 }), "UnkownTransactionError"],
    [json({ type: [] }), "UnkownTransactionError"],
    [json({ typeGroup: null }), "UnkownTransactionError"],
    // Read as text, and then refused by the schema.
    [json({ type: "0" }), "TransactionSchemaError"],
    [json({ typeGroup: "1" }), "TransactionSchemaError"],
    [json({ type: { toString: 0 } }), "TransactionEncodingError"],
    [json({ version: undefined }), "TransactionSchemaError"],
    [json({ version: 1, timestamp: 1 }), "InvalidTransactionBytesError"],
    [json({ signature: "abc" }), "TransactionEncodingError"],
    [json({ recipientId: "UXJMx18r6b8ddXZyTz8mDGk6KSeyrdS4Tv" }), "TransactionEncodingError"],
    [json({ recipientId: addressOn(63) }), "InvalidTransactionBytesError"],
    [json({ type: 5, amount: 0 }), "TransactionEncodingError"],
  ])("The parser refuses JSON (refusal %#): %j.", (input, code) => {
    expect(() => transactionFromJson(input, context)).toThrow(refusal(code));
  });

  test("The order of members and the letter case do not matter.", () => {
    const payments = [1n, 2n].map((amount) => ({ amount, recipientId: addressOn(68) }));
    const payment = signTransaction(bodyOf(6, { asset: { payments } }), sender);
    const { id, ...members } = transactionToJson(payment);
    const reversed = {
      ...Object.fromEntries(Object.entries(members).reverse()),
      asset: { payments: payments.map(({ amount, recipientId }) => ({ recipientId, amount: `${amount}` })) },
      signature: payment.signature?.toUpperCase(),
      id,
    };
    const expected = transactionFromBytes(encodeTransaction(payment), context);
    expect(transactionFromJson(reversed, context)).toEqual(expected);
    expect(transactionFromJson({ id, ...members }, context)).toEqual(expected);
  });

  test("The id of an exception in the input does not exempt another transaction.", () => {
    const listed = "ab".repeat(32);
    const network = createNetwork({ ...presets.livenet, exceptions: { transactions: [listed] } });
    const where = { network, height: 2 };
    expect(transactionFromJson(json({ id: listed }), where).data.id).toBe(signed().id);
    // The schema is checked again with the computed id, which is not listed.
    expect(() => transactionFromJson(json({ fee: "0", id: listed }), where)).toThrow(
      refusal("TransactionSchemaError"),
    );
  });

  test("Input that decodes to other values is refused.", () => {
    const tokens = JSON.parse(
      `{"unik":{"tokenId":"${"ab".repeat(32)}","properties":{"__proto__":"x","b":"y"}}}`,
    );
    const input = { ...json({ typeGroup: 2000, type: 0, amount: 0 }), asset: { nft: tokens } };
    expect(() => transactionFromJson(input, context)).toThrow(refusal("TransactionEncodingError"));
  });

  test("Endless nesting in an unknown member is ignored.", () => {
    let deep: unknown[] = [];
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(parse({ unknown: deep }).data).toEqual(signed());
  });

  test("A schema error has the path, the rule, and the requirement.", () => {
    const expectation = "must be an integer from 1 to 9223372036854775807, as a number or as text";
    expect(() => parse({ fee: 0 })).toThrow(
      expect.objectContaining({
        message: `transfer: /fee ${expectation}`,
        violation: { path: "/fee", rule: "u63", expectation },
        isRetryable: false,
      }),
    );
  });

  test("The error of a member that cannot be encoded names it.", () => {
    const tokens = { unik: { tokenId: "ab".repeat(32), properties: { name: 5 } } };
    const input = { ...json({ typeGroup: 2000, type: 0, amount: 0 }), asset: { nft: tokens } };
    expect(() => transactionFromJson(input, context)).toThrow("the property name must be a text");
  });
});

describe("64-bit values in JSON", () => {
  test.each([
    [" 12 ", 12n],
    ["007", 7n],
    ["0x10", 16n],
    [true, 1n],
    [[7], 7n],
    [2 ** 53, 2n ** 53n],
  ])("%j is %s", (value, expected) => {
    expect(bigintFromJson(value)).toBe(expected);
  });

  test.each(["1.0", "1e3", 1.5, null, {}, "9".repeat(1025), Number.NaN])("%j is refused", (value) => {
    expect(() => bigintFromJson(value)).toThrow();
  });

  test.each([null, false, "", 2 ** 63, "9223372036854775808", -1])(
    "A fee of %j breaks the schema.",
    (fee) => {
      expect(() => parse({ fee })).toThrow(refusal("TransactionSchemaError"));
    },
  );

  test("2^63 - 1 is the largest", () => {
    expect(parse({ fee: "9223372036854775807", amount: 1, nonce: 0 }).data.fee).toBe(2n ** 63n - 1n);
    const bytes = encodeTransaction({ ...signed(), nonce: 2n ** 63n });
    expect(() => transactionFromBytes(bytes, context)).toThrow(refusal("TransactionSchemaError"));
  });
});

describe("from bytes", () => {
  const bytes = encodeTransaction(signed());

  test("The version must be the one in force at the last accepted block (trap A1).", () => {
    expect(() => transactionFromBytes(bytes, contextV1)).toThrow(refusal("TransactionVersionError"));
    const first = encodeTransaction(signTransaction(transferV1(), sender));
    expect(transactionFromBytes(first, contextV1).isVerified).toBe(true);
    expect(() => transactionFromBytes(first, context)).toThrow(refusal("TransactionVersionError"));
  });

  test.each([
    ["version 0", 1, 0],
    ["a foreign recipient", 71, 63],
    ["an unknown type", 7, 11],
    ["an unknown group", 3, 9],
  ])("%s is unreadable", (_, at, byte) => {
    const altered = bytes.slice();
    altered[at] = byte;
    expect(() => transactionFromBytes(altered, context)).toThrow(refusal("InvalidTransactionBytesError"));
  });

  test("The recipient's network is not checked in version 1 nor for a lock.", () => {
    const foreign = addressOn(63);
    const first = encodeTransaction(signTransaction(transferV1({ recipientId: foreign }), sender));
    expect(transactionFromBytes(first, contextV1).data.recipientId).toBe(foreign);
    const lock = { secretHash: "ab".repeat(32), expiration: { type: 1, value: 1 } };
    const locking = signTransaction(bodyOf(8, { amount: 1n, recipientId: foreign, asset: { lock } }), sender);
    expect(transactionFromBytes(encodeTransaction(locking), context).data.recipientId).toBe(foreign);
  });

  describe("texts of magistrate types", () => {
    const registrationOf = (name: string, website: string) =>
      bodyOf(0, { typeGroup: 2, asset: { businessRegistration: { name, website } } });
    /** Bytes whose length byte of the website counts characters, as they are read. */
    function written(name: string, website: string) {
      const bytes = encodeTransaction(signTransaction(registrationOf(name, website), sender));
      const at = bytes.findIndex(
        (_, index) =>
          bytesToHex(bytes.slice(index, index + 4)) === bytesToHex(utf8ToBytes(website.slice(0, 4))),
      );
      bytes[at - 1] = website.length;
      return bytes;
    }

    test("Trap A24: a text beyond ASCII takes bytes of the next field the second time; what cannot be read again is refused.", () => {
      expect(transactionFromBlock(written("cat", "http://cat"), context).data.asset).toEqual({
        businessRegistration: { name: "cat", website: "http://cat" },
      });
      expect(() => transactionFromBlock(written("cat", "http://é"), context)).toThrow(
        refusal("InvalidTransactionBytesError"),
      );
    });

    test("Trap A29: ports that the schema removes have no part in id and signature.", () => {
      const chain = (ports: Record<string, number>) =>
        bodyOf(3, {
          typeGroup: 2,
          asset: {
            bridgechainRegistration: {
              ...{ name: "cat", seedNodes: ["1.2.3.4"], genesisHash: "ab".repeat(32) },
              ...{ bridgechainRepository: "http://cat", ports: { "@arkecosystem/core-api": 1, ...ports } },
            },
          },
        });
      const signed = signTransaction(chain({}), sender);
      const long = { ...chain({ ["x".repeat(215)]: 2 }), signature: signed.signature ?? "" };
      const parsed = transactionFromBlock(encodeTransaction(long), context);
      expect(parsed).toEqual(transactionFromBlock(encodeTransaction(signed), context));
      expect(parsed.isVerified).toBe(true);
    });

    test("Trap A25: U+0000 is refused in bytes and in JSON.", () => {
      expect(() => transactionFromBlock(written("cat", "http://\0cat"), context)).toThrow(
        refusal("InvalidTransactionBytesError"),
      );
      const json = transactionToJson(signTransaction(registrationOf("cat", "http://\0cat"), sender));
      expect(() => transactionFromJson(json, context)).toThrow(refusal("InvalidTransactionBytesError"));
    });
  });

  test("Every recipient of payments is compared.", () => {
    const payments = [68, 68, 63].map((version) => ({ amount: 1n, recipientId: addressOn(version) }));
    const payment = encodeTransaction(signTransaction(bodyOf(6, { asset: { payments } }), sender));
    expect(() => transactionFromBytes(payment, context)).toThrow(refusal("InvalidTransactionBytesError"));
  });

  test("A DER signature with an invalid length ends the parsing.", () => {
    const broken = encodeTransaction({ ...signed(), signature: `3006${"00".repeat(6)}` });
    expect(() => transactionFromBytes(broken, context)).toThrow(refusal("InvalidTransactionBytesError"));
    expect(transactionFromBytes(broken, context, { checkSignature: false }).data.signature).toHaveLength(16);
  });

  test("The signature can be checked separately.", () => {
    const parsed = transactionFromBytes(bytes, context, { checkSignature: false });
    expect(parsed.isVerified).toBe(false);
    const job = signatureJob(parsed, context);
    expect(job).toMatchObject({ publicKey: hexToBytes(senderPublicKey) });
    expect(typeof job === "object" && verifyJob(job)).toBe(true);
  });

  test("An id listed as an exception is verified, and exempt from the schema.", () => {
    const wrong = { ...signed(), fee: 0n };
    const { id } = sealedFromTrustedBytes(encodeTransaction(wrong)).data;
    const network = createNetwork({ ...presets.livenet, exceptions: { transactions: [id] } });
    const excepted = transactionFromBytes(encodeTransaction(wrong), { network, height: 2 });
    expect(excepted).toMatchObject({ isVerified: true, data: { id, fee: 0n } });
    expect(transactionFromJson({ ...json({ fee: 0 }), id }, { network, height: 2 }).data.id).toBe(id);
    expect(() => transactionFromBytes(encodeTransaction(wrong), context)).toThrow();
  });

  test("A listed id replaces the computed one.", () => {
    const fixed = "ab".repeat(32);
    const exceptions = { transactionIdFixTable: { [signed().id]: fixed } };
    const network = createNetwork({ ...presets.livenet, exceptions });
    expect(transactionFromBytes(bytes, { network, height: 2 }).data.id).toBe(fixed);
  });
});

describe("from trusted bytes", () => {
  test("Nothing from trusted bytes is checked and everything is verified.", () => {
    const body = transfer({ fee: 0n, network: 1 });
    const trusted: SealedTransaction = sealedFromTrustedBytes(encodeTransaction(body));
    expect(trusted.isVerified).toBe(true);
    expect(hexToBytes(trusted.data.id)).toEqual(new Uint8Array(sha256(trusted.bytes)));
    expect(sealedFromTrustedBytes(trusted.bytes, "some id").data.id).toBe("some id");
    expect(() => sealedFromTrustedBytes(hexToBytes("ff02"))).toThrow();
  });
});

describe("to JSON", () => {
  test("64-bit values are text, and the core group is not named", () => {
    expect(json()).toEqual({
      version: 2,
      network: 68,
      type: 0,
      nonce: "1",
      senderPublicKey,
      fee: "10000000",
      amount: "1",
      expiration: 0,
      recipientId: addressOn(68),
      signature: signed().signature,
      id: signed().id,
    });
    const payments = [{ amount: 5n, recipientId: addressOn(68) }];
    const payment = transactionToJson({ ...bodyOf(6, { typeGroup: 2000, asset: { payments } }), id: "" });
    expect(payment).toMatchObject({ typeGroup: 2000, asset: { payments: [{ amount: "5" }] } });
  });
});
