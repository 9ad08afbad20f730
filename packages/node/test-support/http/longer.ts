/** Two more blocks: locks and transactions that end locks, entities, and payments to the foundation. */
import type { ShownAttributes } from "@uniknode/ledger";
import {
  certify,
  type NftAsset,
  type SealedTransaction,
  signDemand,
  type TransactionBody,
} from "@uniknode/protocol";
import { present } from "../../src/platform/present.ts";
import type { Write } from "../../src/store/state/state.ts";
import { walletWrites } from "../store/holdings.ts";
import {
  type Account,
  alice,
  bob,
  carol,
  chain,
  cold,
  dave,
  forgeOn,
  foundation,
  unik,
  version2,
  wallets,
} from "./chain.ts";
import type { Additions } from "./fixture.ts";

const id = (digit: string) => digit.repeat(64);

/** Locks that were created in an earlier chain. */
export const ended = { claimed: id("1"), refunded: id("2") };
export const secretHash = { first: id("3"), second: id("4"), third: id("5") };

const lock = (
  sender: Account,
  members: { amount: bigint; secretHash: string; vendorField?: string; recipientId: string },
  expiration: { type: number; value: number },
) => {
  const { secretHash, ...rest } = members;
  return version2(sender, { type: 8, ...rest, asset: { lock: { secretHash, expiration } } });
};

function certified(sender: Account, type: number, tokenId: string, properties: Record<string, string>) {
  const nft: NftAsset = { unik: { tokenId, properties } };
  const terms = { iss: unik.bob, iat: 1_568_893_330 };
  const demand = signDemand(
    nft,
    { ...terms, sub: tokenId, cryptoAccountAddress: sender.address },
    sender.keys,
  );
  const certification = certify(nft, demand, { ...terms, cost: 0n }, bob.keys);
  const asset: TransactionBody["asset"] = { nft, demand, certification };
  return version2(sender, { typeGroup: 2001, type, recipientId: bob.address, asset });
}

const ALIVE = { "LifeCycle/Status": "3" };
const VOUCHER = { UnikVoucherId: "voucher" };
const MINT = 3;
const UPDATE = 4;

export const more = {
  first: lock(
    alice,
    { amount: 700n, secretHash: secretHash.first, vendorField: "rent", recipientId: cold.address },
    { type: 2, value: 100 },
  ),
  second: lock(
    alice,
    { amount: 50n, secretHash: secretHash.second, recipientId: dave.address },
    { type: 1, value: 40 },
  ),
  third: lock(
    bob,
    { amount: 900n, secretHash: secretHash.third, vendorField: "Rent", recipientId: cold.address },
    { type: 1, value: 1_000 },
  ),
  update: certified(alice, UPDATE, unik.alice, ALIVE),
  mint: certified(dave, MINT, id("6"), { type: "2", ...VOUCHER, ...ALIVE }),
  unborn: certified(dave, MINT, id("7"), { type: "2", ...VOUCHER }),
  unpaid: certified(dave, MINT, id("8"), { type: "2", ...ALIVE }),
  twice: version2(bob, {
    type: 6,
    asset: { payments: [1n, 2n].map((amount) => ({ amount, recipientId: carol.address })) },
  }),
  claim: version2(carol, {
    type: 9,
    fee: 0n,
    asset: { claim: { lockTransactionId: ended.claimed, unlockSecret: id("9") } },
  }),
  refund: version2(bob, { type: 10, fee: 0n, asset: { refund: { lockTransactionId: ended.refunded } } }),
  late: certified(alice, UPDATE, unik.alice, ALIVE),
  entity: entity(carol, { type: 0, subType: 1, name: "my-entity" }),
  delegateEntity: entity(bob, { type: 4, subType: 0, name: "bobs_node" }),
};

function entity(sender: Account, { name, ...numbers }: { type: number; subType: number; name: string }) {
  return version2(sender, {
    typeGroup: 2,
    type: 6,
    fee: 5_000_000_000n,
    asset: { ...numbers, action: 0, data: { name } },
  });
}

const { claim, refund, late, entity: own, delegateEntity, ...before } = more;
const { network } = chain;
const fifth = forgeOn(
  present(chain.blocks.at(-1)),
  { network, timestamp: 32, transactions: Object.values(before) },
  bob,
);
const sixth = forgeOn(
  fifth,
  { network, timestamp: 40, transactions: [claim, refund, late, own, delegateEntity] },
  bob,
);

const lockOf = ({ data }: SealedTransaction) => ({
  amount: data.amount,
  recipientId: present(data.recipientId),
  timestamp: 32,
  ...(data.vendorField !== undefined && { vendorField: data.vendorField }),
  ...present(present(data.asset).lock),
});

/** Returns the wallet at the head with additional attributes. */
function walletWith(owner: Account, attributes: ShownAttributes): Write[] {
  const wallet = present(wallets.find(({ account }) => account === owner));
  const { address, publicKey } = owner;
  const { balance, nonce } = wallet;
  return walletWrites({
    ...{ address, publicKey, balance, nonce },
    attributes: { ...wallet.attributes, ...attributes },
  });
}

const locksOf = (...locks: SealedTransaction[]) => ({
  htlc: {
    locks: Object.fromEntries(locks.map((one) => [one.data.id, lockOf(one)])),
    lockedBalance: locks.reduce((sum, { data }) => sum + data.amount, 0n),
  },
});

const { first, second, third } = more;
const entry = (table: "locks" | "entities", key: string, after: string): Write => ({ table, key, after });

const delegates = [
  { publicKey: bob.publicKey, voteBalance: 5n },
  { publicKey: alice.publicKey, voteBalance: 12_345_678_901_234_567n },
  { publicKey: carol.publicKey, voteBalance: 5n },
];

export const longer: Additions = {
  recorded: alice.address,
  blocks: [fifth, sixth],
  writes: [
    ...walletWith(alice, locksOf(first, second)),
    ...walletWith(bob, {
      ...locksOf(third),
      entities: {
        [delegateEntity.data.id]: { type: 4, subType: 0, data: { name: "bobs_node" }, resigned: true },
      },
    }),
    ...walletWith(carol, {
      entities: { [own.data.id]: { type: 0, subType: 1, data: { name: "my-entity", ipfsData: "Qm1" } } },
    }),
    entry("locks", first.data.id, alice.address),
    entry("locks", second.data.id, alice.address),
    entry("locks", third.data.id, bob.address),
    entry("entities", "0/my-entity", own.data.id),
    entry("entities", "4/bobs_node", delegateEntity.data.id),
    {
      table: "wallets",
      key: foundation.address,
      after: { address: foundation.address, balance: 5n, nonce: 0n, attributes: {} },
    },
    {
      table: "rounds",
      key: "2",
      after: { round: 2, height: 4, delegates, order: delegates.map(({ publicKey }) => publicKey) },
    },
  ],
};
