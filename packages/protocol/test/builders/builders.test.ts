/** Each builder creates a transaction that a node accepts, with the static fee. */

import { expect, test } from "vitest";
import {
  addressFromPublicKey,
  type BridgechainAsset,
  builders,
  encodeTransaction,
  isVerified,
  multiSignTransaction,
  sealedFromTrustedBytes,
  secondSignTransaction,
  signTransaction,
  type TransactionBody,
  transactionFromJson,
  transactionToJson,
  transactionTypes,
  verifyMultiSignatures,
  verifySecondSignature,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import {
  addressOf,
  delegate,
  factory,
  hexOf,
  idOf,
  livenet,
  sender,
  unitnet,
} from "../../test-support/builders.ts";

const context = { network: unitnet, height: 2_000_000 };
const envelope = { network: unitnet, senderPublicKey: hexOf(sender), nonce: 3n };
const recipientId = addressOf(delegate, unitnet);
const token = { tokenId: idOf("token"), properties: { color: "blue", old: null } };

const bridgechain: BridgechainAsset = {
  name: "bridge - 1",
  seedNodes: ["10.0.0.1", "2001:db8::1"],
  genesisHash: idOf("genesis"),
  bridgechainRepository: "https://repository.example",
  ports: { "@arkecosystem/core-api": 4003, 7: 8 },
};

const entity = { ...envelope, entityType: 1, entitySubType: 0 };

const certified = {
  network: unitnet,
  nonce: 3n,
  keys: sender,
  ...token,
  issuedAt: 1_600_000_000,
  factory: { keys: factory, tokenId: idOf("factory") },
  cost: 12n,
};

const multiSignature = { min: 2, publicKeys: [hexOf(sender), hexOf(delegate), hexOf(factory)] };

const unsigned: Record<string, TransactionBody> = {
  transfer: builders.transfer({ ...envelope, recipientId, amount: 1n, vendorField: "é", expiration: 9 }),
  secondSignature: builders.secondSignature({ ...envelope, publicKey: hexOf(delegate) }),
  delegateRegistration: builders.delegateRegistration({ ...envelope, username: "genesis_1" }),
  vote: builders.vote({ ...envelope, vote: `+${hexOf(delegate)}` }),
  ipfs: builders.ipfs({ ...envelope, multihash: "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w" }),
  multiPayment: builders.multiPayment({
    ...envelope,
    payments: [
      { recipientId, amount: 1n },
      { recipientId, amount: 2n },
    ],
    vendorField: "both",
  }),
  delegateResignation: builders.delegateResignation(envelope),
  htlcLock: builders.htlcLock({
    ...envelope,
    recipientId,
    amount: 5n,
    secretHash: idOf("secret"),
    expiration: { type: 2, value: 1000 },
  }),
  htlcClaim: builders.htlcClaim({
    ...envelope,
    lockTransactionId: idOf("lock"),
    unlockSecret: idOf("unlock"),
  }),
  htlcRefund: builders.htlcRefund({ ...envelope, lockTransactionId: idOf("lock") }),

  businessRegistration: builders.businessRegistration({
    ...envelope,
    business: { name: "Acme - Corp 1.", website: "https://acme.example", vat: "GB123456789" },
  }),
  businessResignation: builders.businessResignation(envelope),
  businessUpdate: builders.businessUpdate({ ...envelope, changes: { name: "Acme" } }),
  bridgechainRegistration: builders.bridgechainRegistration({ ...envelope, bridgechain }),
  bridgechainResignation: builders.bridgechainResignation({
    ...envelope,
    bridgechainId: bridgechain.genesisHash,
  }),
  bridgechainUpdate: builders.bridgechainUpdate({
    ...envelope,
    bridgechainId: bridgechain.genesisHash,
    changes: { ports: bridgechain.ports },
  }),
  entityRegistration: builders.entityRegistration({ ...entity, name: "my_entity" }),
  entityUpdate: builders.entityUpdate({ ...entity, registrationId: idOf("entity"), ipfsData: "Qm1" }),
  entityResignation: builders.entityResignation({ ...entity, registrationId: idOf("entity") }),

  nftMint: builders.nftMint({ ...envelope, tokenId: token.tokenId, tokenName: "other" }),
  nftUpdate: builders.nftUpdate({ ...envelope, ...token }),
  nftTransfer: builders.nftTransfer({ ...envelope, ...token, recipientId }),

  certifiedDisclosure: builders.certifiedDisclosure({ ...certified, explicitValues: ["bob"], kind: 2 }),
  unsDelegateRegister: builders.unsDelegateRegister({ ...envelope, tokenId: token.tokenId }),
  unsDelegateResign: builders.unsDelegateResign(envelope),
  certifiedMint: builders.certifiedMint(certified),
  certifiedUpdate: builders.certifiedUpdate(certified),
  unsVote: builders.unsVote({ ...envelope, vote: `-${hexOf(delegate)}` }),
  certifiedTransfer: builders.certifiedTransfer({ ...certified, recipientId }),
};

const parse = (transaction: Parameters<typeof transactionToJson>[0]) =>
  transactionFromJson(transactionToJson(transaction), context);

test.each(Object.entries(unsigned))("%s", (_name, transaction) => {
  const signed = signTransaction(transaction, sender);
  const { data, isVerified: verified } = parse(signed);
  expect(verified).toBe(true);
  expect(data).toEqual(signed);
});

test("A multi-signature registration is signed by the participants, then by the sender.", () => {
  let transaction: TransactionBody = builders.multiSignature({ ...envelope, ...multiSignature });
  expect(transaction.fee).toBe(4n * 500_000_000n);
  transaction = [sender, delegate, factory].reduce<TransactionBody>(
    (unfinished, keys, index) => multiSignTransaction(unfinished, index, keys),
    transaction,
  );
  const sealed = parse(signTransaction(transaction, sender));
  expect(isVerified(sealed, context)).toBe(true);
  expect(verifyMultiSignatures(sealed.data, multiSignature)).toBe(true);
});

test("A second signature comes last.", () => {
  const signed = signTransaction(present(unsigned.transfer, "transfer"), sender);
  const { data } = parse(secondSignTransaction(signed, delegate));
  expect(verifySecondSignature(data, hexOf(delegate))).toBe(true);
});

test("A builder for every type exists.", () => {
  const numbersOf = ({ typeGroup, type }: { typeGroup: number; type: number }) => `${typeGroup}/${type}`;
  const built = new Set(Object.values(unsigned).map(numbersOf)).add("1/4");
  expect(built).toEqual(new Set(transactionTypes.map(numbersOf)));
});

test("A given fee is kept.", () => {
  expect(builders.transfer({ ...envelope, recipientId, amount: 1n, fee: 5n }).fee).toBe(5n);
});

const genesis = {
  network: livenet,
  senderPublicKey: hexOf(sender),
  version: 1,
  timestamp: 0,
  fee: 0n,
} as const;

test.each([
  ["transfer", builders.transfer({ ...genesis, recipientId: addressOf(delegate), amount: 10n ** 15n })],
  ["secondSignature", builders.secondSignature({ ...genesis, publicKey: hexOf(delegate) })],
  ["delegateRegistration", builders.delegateRegistration({ ...genesis, username: "genesis_1" })],
  ["vote", builders.vote({ ...genesis, vote: `+${hexOf(delegate)}` })],
])("A version 1 transaction for a genesis block is verified: %s.", (_name, transaction) => {
  const signed = signTransaction(transaction, sender);
  const parsed = transactionFromJson(transactionToJson(signed), { network: livenet, height: 1 });
  expect(parsed.isVerified).toBe(true);
  expect(parsed.data).toEqual(signed);
});

test("A legacy multi-signature of version 1 for a genesis block is verified.", () => {
  const publicKeys = [hexOf(delegate), hexOf(factory)];
  const transaction = builders.multiSignatureLegacy({ ...genesis, min: 2, lifetime: 24, publicKeys });
  const signed = signTransaction(transaction, sender);
  const { data } = sealedFromTrustedBytes(encodeTransaction(signed));
  expect(data).toEqual(signed);
  expect(data.asset).toEqual({
    multiSignatureLegacy: { min: 2, lifetime: 24, keysgroup: publicKeys.map((key) => `+${key}`) },
  });
});

test.each([
  ["a negative amount", { amount: -5n }, "amount must be a bigint of at least 0, in the smallest unit"],
  ["a number", { amount: 1.5 as never }, "amount must be a bigint of at least 0, in the smallest unit"],
  ["an amount of more than 63 bits", { amount: 2n ** 63n }, "amount must be a bigint of at least 0"],
  ["a negative fee", { fee: -1n }, "fee must be a bigint"],
  ["a text that is not an address", { recipientId: "nope" }, "recipientId must be an address"],
  [
    "a mistyped address",
    { recipientId: `${recipientId.slice(0, -1)}${recipientId.endsWith("a") ? "b" : "a"}` },
    "recipientId must be an address",
  ],
  [
    "an address of another network",
    { recipientId: addressFromPublicKey(hexOf(sender), unitnet.description.pubKeyHash + 1) },
    "recipientId must be of this network",
  ],
])("A transfer with %s is refused, and the error names the member.", (_, changes, message) => {
  const options = { ...envelope, recipientId, amount: 1n, ...changes };
  expect(() => builders.transfer(options)).toThrow(message);
  const payments = [
    { recipientId, amount: 1n },
    { recipientId, amount: 1n, ...changes },
  ];
  if ("fee" in changes) return;
  expect(() => builders.multiPayment({ ...envelope, payments })).toThrow(`asset.payments.1.${message}`);
});
