/** A small chain: its accounts, their transactions, and the state at its head. */
import type { Delegate, ShownAttributes } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  bytesToHex,
  createGenesisBlock,
  createNetwork,
  dalinet,
  encodeTransaction,
  forgeBlock,
  type KeyPair,
  keysFromPassphrase,
  type Network,
  type NetworkFiles,
  type SealedTransaction,
  sealedFromTrustedBytes,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import type { PeerInfo } from "../../src/gateway/gateway.ts";
import { present } from "../../src/platform/present.ts";

const ADDRESS_VERSION = dalinet.network.pubKeyHash;
export const PREMINE = 10_000_000_000_000_001n;
/** Odd and greater than 2^53, so that no double can represent it. */
export const ALICE_BALANCE = 9_531_999_990_000_001n;

/** Almost a tenth of the supply. */
export const BOB_VOTES = 953_200_000_000_000n;

export type Account = { keys: KeyPair; publicKey: string; address: string };

export function account(name: string): Account {
  const keys = keysFromPassphrase(name);
  const publicKey = bytesToHex(keys.publicKey);
  return { keys, publicKey, address: addressFromPublicKey(publicKey, ADDRESS_VERSION) };
}

export const treasury = account("treasury");
export const alice = account("alice");
export const bob = account("bob");
export const carol = account("carol");
export const dave = account("dave");
/** Account of which only the address is known. */
export const cold = account("cold");
export const stranger = account("stranger");
/** Recipient of rewarded transactions; has no wallet at first. */
export const foundation = account("foundation");
export const secondKey = account("alice's second key").publicKey;

const id = (digit: string) => digit.repeat(64);
export const unik = { alice: id("a"), bob: id("b"), dave: id("d"), bare: id("e") };

/** Blocks whose transaction types compete for their own slots from the first block on. */
const files: NetworkFiles = {
  ...dalinet,
  network: { ...dalinet.network, foundation: { publicKey: foundation.publicKey } },
  milestones: [
    { ...present(dalinet.milestones[0]), nbDelegatesByType: { individual: 1, organization: 1, network: 1 } },
    { height: 2, aip11: true, htlcEnabled: true, block: { idFullSha256: true } },
    { height: 6, unsTokenEcoV3: true },
  ],
};

function seal(body: TransactionBody, { keys }: Account): SealedTransaction {
  const { id, ...signed } = signTransaction(body, keys);
  return sealedFromTrustedBytes(encodeTransaction(signed), id);
}

const version1 = (amount: bigint, recipient: Account): SealedTransaction =>
  seal(
    {
      version: 1,
      network: ADDRESS_VERSION,
      typeGroup: 1,
      type: 0,
      timestamp: 0,
      senderPublicKey: treasury.publicKey,
      fee: 0n,
      amount,
      recipientId: recipient.address,
      expiration: 0,
    },
    treasury,
  );

let nonces = new Map<Account, bigint>();

/** Builds a transaction with the sender's next nonce. */
export function version2(
  sender: Account,
  members: Partial<TransactionBody> & Pick<TransactionBody, "type">,
): SealedTransaction {
  const nonce = (nonces.get(sender) ?? 0n) + 1n;
  nonces.set(sender, nonce);
  return seal(
    {
      version: 2,
      network: ADDRESS_VERSION,
      typeGroup: 1,
      nonce,
      senderPublicKey: sender.publicKey,
      fee: 10_000_000n,
      amount: 0n,
      ...members,
    },
    sender,
  );
}

export const forgeOn = (
  { header }: Block,
  draft: { network: Network; timestamp: number; transactions: SealedTransaction[] },
  { keys }: Account,
): Block => forgeBlock({ ...draft, previous: header }, keys);

const peer = (ip: string, version: string, height: number, latency: number): PeerInfo => ({
  ip,
  port: 4002,
  ports: { "@arkecosystem/core-api": 4003 },
  version,
  height,
  latency,
});

const peers = [
  peer("203.0.113.9", "5.10.0", 4, 30),
  peer("203.0.113.10", "5.9.0", 5, 20),
  peer("2001:db8::1", "unknown", 3, 10),
];

function createChain() {
  nonces = new Map();
  const premine = [version1(ALICE_BALANCE, alice), version1(PREMINE - ALICE_BALANCE, bob)];
  const genesis = createGenesisBlock({ files, transactions: premine, keys: treasury.keys });
  const network = createNetwork(genesis.files);
  const blocks: Block[] = [genesis.block];
  const forge = (timestamp: number, forger: Account, transactions: SealedTransaction[]) => {
    const previous = present(blocks.at(-1));
    blocks.push(forgeOn(previous, { network, timestamp, transactions }, forger));
  };
  const transfer = { type: 0, recipientId: cold.address, expiration: 0 };
  const sent = {
    hello: version2(alice, { ...transfer, amount: 5n, vendorField: "Hello 100% é✓" }),
    payments: version2(alice, {
      type: 6,
      asset: {
        payments: [
          { amount: 11n, recipientId: carol.address },
          { amount: 22n, recipientId: cold.address },
        ],
      },
    }),
    vote: version2(alice, { typeGroup: 2001, type: 5, asset: { votes: [`+${bob.publicKey}`] } }),
    mint: version2(alice, {
      typeGroup: 2000,
      type: 0,
      asset: { nft: { unik: { tokenId: unik.alice, properties: { type: "1" } } } },
    }),
    large: version2(bob, { ...transfer, amount: 1_000n, fee: 50_000_000n, vendorField: "world" }),
  };
  forge(8, carol, []);
  forge(16, bob, [sent.hello, sent.payments, sent.vote, sent.mint]);
  forge(24, bob, [sent.large]);
  const waiting = [
    version2(bob, { ...transfer, amount: 7n, fee: 30_000_000n }),
    version2(alice, { ...transfer, amount: 8n, vendorField: "later" }),
  ];
  return { network, blocks, sent, waiting, peers };
}

export const chain = createChain();
const [genesis, , third, head] = chain.blocks.map(({ header }) => header);
export const heads = { genesis: present(genesis), third: present(third), head: present(head) };

const delegate = (
  username: string,
  members: Partial<Delegate> = {},
): ShownAttributes["delegate"] & object => ({
  username,
  voteBalance: 0n,
  forgedFees: 0n,
  forgedRewards: 0n,
  producedBlocks: 0,
  round: 1,
  ...members,
});

const { id: lastId, height: lastHeight, timestamp: lastTimestamp } = heads.head;

/** State at the head, as far as responses contain it. */
export const wallets: {
  account: Account;
  isCold?: true;
  balance: bigint;
  nonce: bigint;
  attributes: ShownAttributes;
}[] = [
  { account: treasury, balance: -PREMINE, nonce: 2n, attributes: {} },
  {
    account: alice,
    balance: ALICE_BALANCE,
    nonce: 4n,
    attributes: {
      secondPublicKey: secondKey,
      vote: bob.publicKey,
      tokens: { [unik.alice]: { type: 1 }, [unik.bare]: { type: 1 } },
      htlc: { locks: {}, lockedBalance: 0n },
    },
  },
  {
    account: bob,
    balance: 400n,
    nonce: 1n,
    attributes: {
      tokens: { [unik.bob]: { type: 1 } },
      vote: bob.publicKey,
      delegate: delegate(unik.bob, {
        type: 1,
        voteBalance: BOB_VOTES,
        weightedVoteBalance: 200n,
        forgedFees: 90_000_000n,
        forgedRewards: 400_000_000n,
        producedBlocks: 2,
        rank: 1,
        lastBlock: { id: lastId, height: lastHeight, timestamp: lastTimestamp },
      }),
    },
  },
  {
    account: carol,
    balance: 11n,
    nonce: 0n,
    attributes: {
      delegate: delegate("genesis_1", { rank: 2, producedBlocks: 1, forgedRewards: 200_000_000n }),
    },
  },
  {
    account: dave,
    balance: 0n,
    nonce: 0n,
    attributes: {
      tokens: { [unik.dave]: { type: 1 } },
      delegate: delegate(unik.dave, { type: 1, voteBalance: 100n, resigned: true }),
    },
  },
  { account: cold, isCold: true, balance: 1_027n, nonce: 0n, attributes: {} },
];

export const tokens = [
  {
    id: unik.alice,
    owner: alice,
    properties: { type: "1", explicitValues: "alice,wonder", "usr/empty": "" },
  },
  {
    id: unik.bob,
    owner: bob,
    properties: { type: "1", explicitValues: "bob", "Badges/NP/Delegate": "true" },
  },
  { id: unik.dave, owner: dave, properties: { type: "3" } },
  { id: unik.bare, owner: alice, properties: {} },
];
