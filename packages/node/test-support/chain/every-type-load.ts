/** Transactions of every type, sent by the accounts of a network: each account sends one after another. */
import { createHash } from "node:crypto";
import {
  builders,
  multiSignTransaction,
  type Network,
  type Transaction,
  type TransactionBody,
} from "@uniknode/protocol";
import type { DevAccount } from "../../src/dev-chain/keys.ts";
import { ALL_ACCOUNTS, ada, ben, cleo, dora, emil, factory, finn, gwen, people } from "./cast.ts";

export const ONE = 100_000_000n;
const MULTIHASH = "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w";
const BRIDGECHAIN = "bc".repeat(32);
/** Blocks within which a lock with an end must be included, in addition to the round that it must last. */
const LOCK_BLOCKS = 20;

export type Envelope = {
  readonly network: Network;
  readonly senderPublicKey: string;
  readonly nonce: bigint;
  readonly fee: bigint;
};

export type Work = {
  /** Sends a transaction with the sender's next nonce, and waits until it is on the chain. */
  send(sender: DevAccount, make: (envelope: Envelope) => TransactionBody): Promise<Transaction>;
  /** Waits until a condition holds. */
  until(isMet: () => boolean): Promise<void>;
  /** Returns the height of the chain at the last poll. */
  height(): number;
  /** Blocks of a round. */
  readonly roundLength: number;
};

/** Settles when every account has completed its work. `rich` pays the others. */
export async function useEveryType(work: Work, rich: DevAccount): Promise<void> {
  const payments = ALL_ACCOUNTS.map(({ address }) => ({ recipientId: address, amount: 10_000n * ONE }));
  await work.send(rich, (given) => builders.multiPayment({ ...given, payments }));
  await Promise.all([
    useUniks(work),
    giveUnikAway(work).then(() => useMoreKeys(work)),
    useLocks(work),
    runBusiness(work),
  ]);
}

const secret = createHash("sha256").update("secret").digest("hex");
const secretHash = createHash("sha256").update(Buffer.from(secret, "hex")).digest("hex");
const certified = ({ keys }: DevAccount) => ({
  keys,
  issuedAt: Math.floor(Date.now() / 1_000),
  cost: 0n,
  factory: { tokenId: factory.unikId, keys: factory.keys },
});
const FREE = { fee: 0n };

async function becomeDelegate(work: Work): Promise<void> {
  const { unikId: tokenId } = ada;
  await work.send(ada, (given) => builders.nftMint({ ...given, tokenId, properties: { type: "1" } }));
  await work.send(ada, (given) =>
    builders.nftUpdate({ ...given, tokenId, properties: { "usr/color": "red" } }),
  );
  await work.send(ada, (given) =>
    builders.certifiedDisclosure({
      ...given,
      ...certified(ada),
      tokenId,
      explicitValues: ["ada"],
      kind: 1,
    }),
  );
  await work.send(ada, (given) =>
    builders.certifiedUpdate({ ...given, ...certified(ada), tokenId, properties: { "usr/color": "blue" } }),
  );
  await work.send(ada, (given) => builders.unsDelegateRegister({ ...given, tokenId }));
  await work.send(cleo, (given) => builders.unsVote({ ...given, vote: `+${ada.publicKey}` }));
  await work.send(cleo, (given) => builders.unsVote({ ...given, vote: `-${ada.publicKey}` }));
  await work.send(ada, (given) => builders.unsDelegateResign(given));
  const { unikId } = cleo;
  await work.send(cleo, (given) =>
    builders.certifiedTransfer({
      ...given,
      ...certified(cleo),
      tokenId: unikId,
      recipientId: emil.address,
    }),
  );
}

async function useUniks(work: Work): Promise<void> {
  await work.send(factory, (given) =>
    builders.nftMint({ ...given, tokenId: factory.unikId, properties: { type: "2" } }),
  );
  const { unikId: tokenId } = cleo;
  await work.send(cleo, (given) =>
    builders.certifiedMint({ ...given, ...certified(cleo), tokenId, properties: { type: "1" } }),
  );
  await becomeDelegate(work);
}

async function giveUnikAway(work: Work): Promise<void> {
  const { unikId: tokenId } = finn;
  await work.send(finn, (given) => builders.nftMint({ ...given, tokenId, properties: { type: "1" } }));
  await work.send(finn, (given) => builders.nftTransfer({ ...given, tokenId, recipientId: gwen.address }));
}

async function useLocks(work: Work): Promise<void> {
  const common = { recipientId: dora.address, amount: ONE, secretHash };
  const value = work.height() + work.roundLength + LOCK_BLOCKS;
  const short = await work.send(ben, (given) =>
    builders.htlcLock({ ...given, ...common, expiration: { type: 2, value } }),
  );
  const long = await work.send(ben, (given) =>
    builders.htlcLock({ ...given, ...common, expiration: { type: 2, value: 1_000_000 } }),
  );
  await work.send(dora, (given) =>
    builders.htlcClaim({ ...given, ...FREE, lockTransactionId: long.id, unlockSecret: secret }),
  );
  await work.send(dora, (given) => builders.transfer({ ...given, recipientId: ben.address, amount: ONE }));
  await work.send(ben, (given) => builders.ipfs({ ...given, multihash: MULTIHASH }));
  await work.until(() => work.height() > value);
  await work.send(ben, (given) => builders.htlcRefund({ ...given, ...FREE, lockTransactionId: short.id }));
}

async function useMoreKeys(work: Work): Promise<void> {
  await work.send(finn, (given) => {
    const signers = [finn, emil];
    const publicKeys = signers.map(({ publicKey }) => publicKey);
    const body = builders.multiSignature({ ...given, min: 1, publicKeys });
    return signers.reduce((signing, { keys }, index) => multiSignTransaction(signing, index, keys), body);
  });
  await work.send(emil, (given) =>
    builders.secondSignature({ ...given, publicKey: people("emil's second key").publicKey }),
  );
}

async function runBusiness(work: Work): Promise<void> {
  const changes = { website: "https://example.org/gwen" };
  const bridgechain = {
    name: "bridge",
    seedNodes: ["203.0.113.7"],
    genesisHash: BRIDGECHAIN,
    bridgechainRepository: "https://example.org/bridge",
    ports: { "@arkecosystem/core-api": 4003 },
  };
  const bridgechainId = BRIDGECHAIN;
  await work.send(gwen, (given) =>
    builders.businessRegistration({ ...given, business: { name: "gwen", website: "https://example.org" } }),
  );
  await work.send(gwen, (given) => builders.businessUpdate({ ...given, changes }));
  await work.send(gwen, (given) => builders.bridgechainRegistration({ ...given, bridgechain }));
  await work.send(gwen, (given) =>
    builders.bridgechainUpdate({ ...given, bridgechainId, changes: { seedNodes: ["203.0.113.8"] } }),
  );
  await work.send(gwen, (given) => builders.bridgechainResignation({ ...given, bridgechainId }));
  await work.send(gwen, (given) => builders.businessResignation(given));
}
