/** Each valid transaction of the vectors is reproduced by its builder, byte by byte. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  builders,
  bytesToHex,
  createNetwork,
  encodeTransaction,
  keysFromPassphrase,
  multiSignTransaction,
  type Network,
  type NetworkFiles,
  presets,
  secondSignTransaction,
  signTransaction,
  type TransactionBody,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";

// biome-ignore lint/suspicious/noExplicitAny: vectors have one shape each, described in their README
type Json = any;

const contentOf = (name: string): { cases: Json[] } =>
  JSON.parse(readFileSync(new URL(`../../../../test/vectors/crypto/${name}.json`, import.meta.url), "utf8"));

const networks = new Map<string, Network>();

function networkNamed(name: string): Network {
  if (!networks.has(name)) {
    const files: NetworkFiles = presets[name] ?? contentOf("networks").cases.find((c) => c.name === name);
    networks.set(name, createNetwork(files));
  }
  return present(networks.get(name), "an entry of networks");
}

/** Call of a builder for the decoded JSON of a transaction, by its numbers. */
const calls: Record<string, (json: Json, envelope: Json) => TransactionBody> = {
  "1/0": ({ recipientId, amount, vendorField, expiration }, envelope) =>
    builders.transfer({ ...envelope, recipientId, amount: BigInt(amount), vendorField, expiration }),
  "1/1": ({ asset }, envelope) => builders.secondSignature({ ...envelope, ...asset.signature }),
  "1/2": ({ asset }, envelope) => builders.delegateRegistration({ ...envelope, ...asset.delegate }),
  "1/3": ({ asset }, envelope) => builders.vote({ ...envelope, vote: asset.votes[0] }),
  "1/4": ({ asset }, envelope) => builders.multiSignature({ ...envelope, ...asset.multiSignature }),
  "1/5": ({ asset }, envelope) => builders.ipfs({ ...envelope, multihash: asset.ipfs }),
  "1/6": ({ asset, vendorField }, envelope) => {
    const payments = asset.payments.map(({ amount, recipientId }: Json) => ({
      recipientId,
      amount: BigInt(amount),
    }));
    return builders.multiPayment({ ...envelope, payments, vendorField });
  },
  "1/7": (_, envelope) => builders.delegateResignation(envelope),
  "1/8": ({ recipientId, amount, vendorField, asset }, envelope) =>
    builders.htlcLock({ ...envelope, ...asset.lock, recipientId, amount: BigInt(amount), vendorField }),
  "1/9": ({ asset }, envelope) => builders.htlcClaim({ ...envelope, ...asset.claim }),
  "1/10": ({ asset }, envelope) => builders.htlcRefund({ ...envelope, ...asset.refund }),

  "2/0": ({ asset }, envelope) =>
    builders.businessRegistration({ ...envelope, business: asset.businessRegistration }),
  "2/1": (_, envelope) => builders.businessResignation(envelope),
  "2/2": ({ asset }, envelope) => builders.businessUpdate({ ...envelope, changes: asset.businessUpdate }),
  "2/3": ({ asset }, envelope) =>
    builders.bridgechainRegistration({ ...envelope, bridgechain: asset.bridgechainRegistration }),
  "2/4": ({ asset }, envelope) =>
    builders.bridgechainResignation({ ...envelope, ...asset.bridgechainResignation }),
  "2/5": ({ asset }, envelope) => {
    const { bridgechainId, ...changes } = asset.bridgechainUpdate;
    return builders.bridgechainUpdate({ ...envelope, bridgechainId, changes });
  },
  "2/6": ({ asset }, envelope) => {
    const { type, subType, action, registrationId, data } = asset;
    const options = { ...envelope, entityType: type, entitySubType: subType, registrationId, ...data };
    if (action === 0) return builders.entityRegistration(options);
    return action === 1 ? builders.entityUpdate(options) : builders.entityResignation(options);
  },

  "2000/0": ({ asset }, envelope) => builders.nftMint({ ...envelope, ...tokenOf(asset) }),
  "2000/1": ({ asset }, envelope) => builders.nftUpdate({ ...envelope, ...tokenOf(asset) }),
  "2000/2": ({ asset, recipientId }, envelope) =>
    builders.nftTransfer({ ...envelope, ...tokenOf(asset), recipientId }),

  "2001/0": ({ asset }, envelope) =>
    builders.unsDiscloseExplicit({
      ...envelope,
      demand: asset["disclose-demand"],
      certification: asset["disclose-demand-certification"],
    }),
  "2001/1": ({ asset }, envelope) =>
    builders.unsDelegateRegister({ ...envelope, tokenId: asset.delegate.username }),
  "2001/2": (_, envelope) => builders.unsDelegateResign(envelope),
  "2001/3": (json, envelope) => builders.unsCertifiedNftMint({ ...envelope, ...partsOf(json) }),
  "2001/4": (json, envelope) => builders.unsCertifiedNftUpdate({ ...envelope, ...partsOf(json) }),
  "2001/5": ({ asset }, envelope) => builders.unsVote({ ...envelope, vote: asset.votes[0] }),
  "2001/6": (json, envelope) => builders.unsCertifiedNftTransfer({ ...envelope, ...partsOf(json) }),
};

function tokenOf({ nft }: Json): builders.TokenOptions {
  const [[tokenName, token]] = Object.entries<Json>(nft) as [[string, Json]];
  return { tokenName, ...token };
}

function partsOf({ asset: { nft, demand, certification }, recipientId }: Json): Json {
  const payload = { ...certification.payload, cost: BigInt(certification.payload.cost) };
  return { nft, demand, certification: { ...certification, payload }, recipientId };
}

const cases = ["core", "nft", "uns", "magistrate", "v1", "multisignature"].flatMap(
  (name) => contentOf(`transactions-${name}`).cases,
);

test.each(cases)("$name", ({ network: name, height, expect: expected, ...secrets }) => {
  const { json } = expected;
  const network = networkNamed(name);
  const envelope = {
    network,
    height,
    version: json.version,
    senderPublicKey: json.senderPublicKey,
    fee: BigInt(json.fee),
    ...(json.version === 1 ? { timestamp: json.timestamp } : { nonce: BigInt(json.nonce) }),
  };
  const legacy = json.asset?.multiSignatureLegacy;
  let transaction = legacy
    ? builders.multiSignatureLegacy({
        ...envelope,
        ...legacy,
        publicKeys: legacy.keysgroup.map((key: string) => key.slice(1)),
      })
    : present(calls[`${json.typeGroup ?? 1}/${json.type}`], "an item of calls")(json, envelope);

  const { fee: _, ...withoutFee } = envelope;
  if (!legacy && expected.staticFee !== undefined) {
    const { fee } = present(calls[`${json.typeGroup ?? 1}/${json.type}`], "an item of calls")(
      json,
      withoutFee,
    );
    expect(`${fee}`).toBe(expected.staticFee);
  }

  for (const { index, passphrase } of secrets.multiSignature?.signers ?? []) {
    transaction = multiSignTransaction(transaction, index, keysFromPassphrase(passphrase));
  }
  const algorithm = json.signature?.length === 128 ? "schnorr" : "ecdsa";
  if (json.signature) {
    transaction = signTransaction(transaction, keysFromPassphrase(secrets.passphrase), algorithm);
  }
  if (json.secondSignature) {
    transaction = secondSignTransaction(transaction, keysFromPassphrase(secrets.secondPassphrase), algorithm);
  }
  expect(bytesToHex(encodeTransaction(transaction))).toBe(expected.serialized);
  expect(transaction).toMatchObject({ id: expected.id });
});
