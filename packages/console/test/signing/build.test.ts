/** Functions of the worker, called without the worker. */
import {
  addressFromPublicKey,
  bytesToHex,
  createNetwork,
  dalinet,
  keysFromPassphrase,
  livenet,
  transactionFromJson,
  verifyDiscloseCertification,
  verifyDiscloseDemand,
  verifySecondSignature,
} from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  draftingOf,
  draftOf,
  OrderError,
  requiredFeeOf,
  signOrder,
  walletOf,
} from "../../src/signing/build.ts";
import type { Order, Terms } from "../../src/signing/order.ts";

const network = createNetwork(dalinet);
const sender = walletOf(network, "sender");
const recipient = walletOf(network, "recipient").address;
const terms: Terms = { senderPublicKey: sender.publicKey, nonce: 7n, height: 2_000_000 };
const unik = "ab".repeat(32);
const transfer: Order = { kind: "transfer", recipientId: recipient, amount: 1n, vendorField: "thanks" };
const mint: Order = { kind: "mint", tokenId: unik, properties: { type: "1", Greeting: "hello" } };
const give: Order = { kind: "transfer-unik", tokenId: unik, recipientId: recipient };
const update: Order = { kind: "update", tokenId: unik, properties: { Greeting: null } };
const disclosure: Order = {
  ...{ kind: "disclose", tokenId: unik, explicitValues: ["anna", "anna.b"], type: 1 },
  factory: "cd".repeat(32),
};
const vote: Order = { kind: "vote", vote: `+${sender.publicKey}` };
const orders: readonly Order[] = [transfer, vote, mint, update, give];
const signatory = { address: sender.address, secondPublicKey: undefined };

const faultOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof OrderError) return error.fault;
    throw error;
  }
  return undefined;
};

describe("An order", () => {
  test.each(orders.map((order) => [order.kind, order] as const))(
    "An order to %s is signed as in its draft, and verifies.",
    (_kind, order) => {
      const draft = draftOf(network, order, terms);
      const signed = signOrder(network, order, terms, signatory, { passphrase: "sender", second: "" });
      expect(signed).toMatchObject(draft);
      expect(draft).not.toHaveProperty("id");
      const context = { network, height: terms.height };
      expect(transactionFromJson(signed, context)).toMatchObject({
        isVerified: true,
        data: { id: signed.id },
      });
    },
  );

  test("An order to disclose is signed by the sender and the factory, and its draft has no signatures.", () => {
    const passphrases = { passphrase: "sender", second: "", certifier: "factory" };
    const signed = signOrder(network, disclosure, terms, signatory, passphrases);
    const { data } = transactionFromJson(signed, { network, height: terms.height });
    const { "disclose-demand": demand, "disclose-demand-certification": certification } = data.asset ?? {};
    expect(demand && verifyDiscloseDemand(demand, sender.publicKey)).toBe(true);
    const { publicKey } = walletOf(network, "factory");
    expect(certification && verifyDiscloseCertification(certification, publicKey)).toBe(true);
    expect(demand?.payload).toMatchObject({ explicitValue: ["anna", "anna.b"], type: 1 });
    const draft = draftOf(network, disclosure, terms);
    expect(draft).toMatchObject({
      fee: signed.fee,
      asset: {
        "disclose-demand": { payload: demand?.payload, signature: "" },
        "disclose-demand-certification": { payload: certification?.payload, signature: "" },
      },
    });
    const unsigned = () =>
      signOrder(network, disclosure, terms, signatory, { passphrase: "sender", second: "" });
    expect(faultOf(unsigned)?.field).toBe("certifier");
    expect(faultOf(() => draftOf(network, disclosure, { ...terms, senderPublicKey: "" }))?.field).toBe(
      "from",
    );
  });

  test("An order uses the entered fee, or else the static fee of the network.", () => {
    expect(draftOf(network, transfer, { ...terms, fee: 5n }).fee).toBe("5");
    expect(draftOf(network, transfer, terms).fee).toBe("10000000");
  });

  test("An order has a high fee if it is more than a token and ten times the usual one, which the draft names.", () => {
    const fees = [100_000_001n, 100_000_000n, 5n].map((fee) =>
      draftingOf(network, transfer, { ...terms, fee }),
    );
    expect(fees.map(({ isFeeHigh, usualFee }) => [isFeeHigh, usualFee])).toEqual([
      [true, 10_000_000n],
      [false, 10_000_000n],
      [false, 10_000_000n],
    ]);
  });

  test("An order needs the fee of the node's policy.", () => {
    const transaction = signOrder(network, transfer, terms, signatory, { passphrase: "sender", second: "" });
    const context = { transaction, height: terms.height };
    expect(requiredFeeOf(network, { ...context, policy: { enabled: false } })).toBe(10_000_000n);
    const policy = {
      enabled: true,
      minFeePool: 2_000,
      minFeeBroadcast: 1_000,
      addonBytes: { transfer: 100 },
    } as const;
    // 162 bytes with the text.
    expect(requiredFeeOf(network, { ...context, policy })).toBe(181_000n);
  });

  test("An order of a wallet with a second key is signed twice.", () => {
    const keys = keysFromPassphrase("second");
    const twice = { ...signatory, secondPublicKey: bytesToHex(keys.publicKey) };
    const signed = signOrder(network, transfer, terms, twice, { passphrase: "sender", second: "second" });
    const { data } = transactionFromJson(signed, { network, height: terms.height });
    expect(verifySecondSignature(data, twice.secondPublicKey)).toBe(true);
    const wrong = () =>
      signOrder(network, transfer, terms, twice, { passphrase: "sender", second: "sender" });
    expect(faultOf(wrong)?.field).toBe("second");
  });

  test("An order is not signed by the passphrase of another wallet.", () => {
    const work = () => signOrder(network, transfer, terms, signatory, { passphrase: "other", second: "" });
    expect(faultOf(work)).toEqual({
      field: "passphrase",
      message: expect.stringContaining(walletOf(network, "other").address),
    });
  });

  test.each([
    ["a typo in the recipient", { ...transfer, recipientId: `${recipient.slice(0, -1)}1` }, "to"],
    ["no recipient", { ...transfer, recipientId: "no address" }, "to"],
    ["a typo in the new owner", { ...give, recipientId: `${recipient.slice(0, -1)}1` }, "to"],
    [
      "a recipient of another network",
      { ...transfer, recipientId: addressFromPublicKey(sender.publicKey, livenet.network.pubKeyHash) },
      "to",
    ],
    ["a long text", { ...transfer, vendorField: "é".repeat(128) }, "text"],
    ["a long name", { ...mint, properties: { type: "1", ["n".repeat(256)]: "" } }, "properties"],
    ["a long name to disclose", { ...disclosure, explicitValues: ["n".repeat(256)] }, "names"],
    ["a long value", { ...update, properties: { name: "v".repeat(256) } }, "properties"],
    [
      "too many properties",
      { ...update, properties: Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`${i}`, ""])) },
      "properties",
    ],
  ])("An order with %s is refused at its field.", (_what, order, field) => {
    expect(faultOf(() => draftOf(network, order as Order, terms))?.field).toBe(field);
  });

  test("An order to mint is refused if only certified mints are allowed.", () => {
    const strict = createNetwork(livenet);
    expect(faultOf(() => draftOf(strict, mint, terms))?.message).toContain("factory");
  });
});
