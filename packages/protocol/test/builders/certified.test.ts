/** Certified transactions by the holder of the factory's key. */

import { expect, test } from "vitest";
import {
  type Asset,
  builders,
  certificationSubject,
  discloseSubject,
  signTransaction,
  type TransactionBody,
  transactionFromJson,
  transactionToJson,
  verifyCertification,
  verifyDemand,
  verifyDiscloseCertification,
  verifyDiscloseDemand,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import { addressOf, delegate, factory, hexOf, idOf, livenet, sender } from "../../test-support/builders.ts";

const context = { network: livenet, height: 2_171_350 };

const common = {
  network: livenet,
  nonce: 1n,
  keys: sender,
  tokenId: idOf("token"),
  issuedAt: 1_579_165_954,
  factory: { keys: factory, tokenId: idOf("factory") },
};

/** Transaction as a node receives it. */
function accepted(transaction: TransactionBody) {
  const json = transactionToJson(signTransaction(transaction, sender));
  const parsed = transactionFromJson(JSON.parse(JSON.stringify(json)), context);
  expect(parsed.isVerified).toBe(true);
  return parsed.data;
}

function checkParts({ nft, demand, certification }: Asset): void {
  expect(verifyDemand(present(nft, "nft"), present(demand, "demand"), hexOf(sender))).toBe(true);
  expect(verifyCertification(present(certification, "certification"), hexOf(factory))).toBe(true);
  expect(certification?.payload.sub).toBe(
    certificationSubject(present(nft, "nft"), present(demand, "demand")),
  );
  expect(certification?.payload.iss).toBe(common.factory.tokenId);
}

test("A mint pays its cost to the factory and belongs to the sender.", () => {
  const { asset, amount, recipientId, fee, senderPublicKey } = accepted(
    builders.certifiedMint({ ...common, properties: { type: "1" }, cost: 500n }),
  );
  checkParts(present(asset, "asset"));
  expect(asset?.demand?.payload).toEqual({
    iss: common.tokenId,
    sub: common.tokenId,
    iat: common.issuedAt,
    cryptoAccountAddress: addressOf(sender),
  });
  expect({ amount, recipientId, fee, senderPublicKey }).toEqual({
    amount: 500n,
    recipientId: addressOf(factory),
    fee: 100_000_000n,
    senderPublicKey: hexOf(sender),
  });
});

test("A mint by voucher is free.", () => {
  const properties = { type: "1", UnikVoucherId: "voucher" };
  const { amount, fee } = accepted(builders.certifiedMint({ ...common, properties, cost: 0n, fee: 0n }));
  expect({ amount, fee }).toEqual({ amount: 0n, fee: 0n });
});

test("An update has the fee of the height.", () => {
  const options = { ...common, properties: { "LifeCycle/Status": "3" }, cost: 7n };
  const { asset, amount, recipientId } = accepted(builders.certifiedUpdate(options));
  checkParts(present(asset, "asset"));
  expect({ amount, recipientId }).toEqual({ amount: 7n, recipientId: addressOf(factory) });
  expect(builders.certifiedUpdate({ ...options, height: 2_171_349 }).fee).toBe(10_000_000n);
  expect(builders.certifiedUpdate({ ...options, height: 2_171_350 }).fee).toBe(100_000_000n);
});

test("A transfer names the new owner in the demand and as recipient, and has no amount.", () => {
  const recipientId = addressOf(delegate);
  const { asset, ...data } = accepted(
    builders.certifiedTransfer({ ...common, recipientId, cost: 9n, issuerTokenId: idOf("other") }),
  );
  checkParts(present(asset, "asset"));
  expect(asset?.demand?.payload).toMatchObject({ iss: idOf("other"), cryptoAccountAddress: recipientId });
  expect(data).toMatchObject({ amount: 0n, recipientId });
});

test("A disclosure is signed by the sender and certified by the factory.", () => {
  const { asset } = accepted(
    builders.certifiedDisclosure({ ...common, explicitValues: ["bob", "bobby"], kind: 1 }),
  );
  const { "disclose-demand": demand, "disclose-demand-certification": certification } = present(
    asset,
    "asset",
  );
  expect(demand?.payload).toMatchObject({ explicitValue: ["bob", "bobby"], type: 1 });
  expect(verifyDiscloseDemand(present(demand, "demand"), hexOf(sender))).toBe(true);
  expect(verifyDiscloseCertification(present(certification, "certification"), hexOf(factory))).toBe(true);
  expect(certification?.payload.sub).toBe(discloseSubject(present(demand, "demand").payload));
});
