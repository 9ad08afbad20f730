/** Transactions as steps of a scenario: everything that a scenario cannot have is left out. */
import { builders, createNetwork, type TransactionBody } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { devGenesis, seal } from "../../../src/dev-chain/genesis.ts";
import { deriveAccounts } from "../../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION } from "../../../src/dev-chain/network.ts";
import { createRecordedNames } from "../../../src/dev-chain/recording/names.ts";
import { createRecorder, type RecordedParts } from "../../../src/dev-chain/recording/recorder.ts";
import { tokensOf, transactionStep } from "../../../src/dev-chain/recording/transactions.ts";
import type { PoolEvent } from "../../../src/pool/events.ts";

const accounts = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const cast = castOf(accounts, 2);
const network = createNetwork(devGenesis(cast, 2).files);
const [alice, bob, stranger] = [accounts("account 0"), accounts("account 1"), accounts("stranger")];
const envelope = { network, senderPublicKey: alice.publicKey, nonce: 1n };
const TOKEN = "ab".repeat(32);

const stepOf = (body: TransactionBody, sender = alice) =>
  transactionStep(seal(body, sender).data, createRecordedNames(cast, new Map()), network.milestoneAt(4));
const transfer = builders.transfer({ ...envelope, recipientId: bob.address, amount: 150_000_000n });

test("a transfer has the names of its accounts, its message, and a fee unless it is static", () => {
  const step = { from: "account 0", to: "account 1", amount: "1.5" };
  expect(stepOf(transfer)).toEqual({ transfer: step });
  expect(stepOf({ ...transfer, fee: 30_000_000n, vendorField: "rent" })).toEqual({
    transfer: { ...step, message: "rent", fee: "0.3" },
  });
  expect(stepOf({ ...transfer, recipientId: stranger.address })).toEqual({
    transfer: { ...step, to: stranger.address },
  });
});

test("uniks have names: of an account, or of a mint", () => {
  const names = createRecordedNames(cast, new Map());
  const step = (body: TransactionBody) =>
    transactionStep(seal(body, alice).data, names, network.milestoneAt(4));
  const properties = { type: "2", "usr/color": "red" };
  expect(step(builders.nftMint({ ...envelope, tokenId: TOKEN, properties }))).toEqual({
    mint: { owner: "account 0", unik: "unik 1", kind: "organization", set: { "usr/color": "red" } },
  });
  expect(
    step(builders.nftUpdate({ ...envelope, tokenId: TOKEN, properties: { "usr/color": null } })),
  ).toEqual({
    update: { owner: "account 0", unik: "unik 1", set: { "usr/color": null } },
  });
  const given = { ...envelope, tokenId: alice.unikId, recipientId: bob.address };
  expect(step(builders.nftTransfer(given))).toEqual({
    transferUnik: { from: "account 0", unik: "account 0", to: "account 1" },
  });
});

describe("a scenario cannot have", () => {
  const updateWith = (properties: Record<string, string>) =>
    builders.nftUpdate({ ...envelope, tokenId: alice.unikId, properties });
  test.each<[string, TransactionBody]>([
    ["an expiration", { ...transfer, expiration: 10 }],
    [
      "a unik of before the recording",
      builders.nftUpdate({ ...envelope, tokenId: TOKEN, properties: { "usr/a": "b" } }),
    ],
    ["a long property", updateWith({ "usr/a": "x".repeat(256) })],
    [
      "many properties",
      updateWith(Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`usr/${at}`, "a"]))),
    ],
    ["a vote for a wallet", builders.unsVote({ ...envelope, vote: `+${bob.publicKey}` })],
    ["another type", builders.unsDelegateResign(envelope)],
  ])("%s", (_what, body) => {
    expect(stepOf(body)).toBeUndefined();
  });

  test("a sender without a public passphrase", () => {
    expect(stepOf({ ...transfer, senderPublicKey: stranger.publicKey }, stranger)).toBeUndefined();
  });
});

test.each([
  [0n, "0"],
  [1n, "0.00000001"],
  [100_000_000n, "1"],
  [1_050_000_000n, "10.5"],
])("%s units are %s tokens", (units, tokens) => {
  expect(tokensOf(units)).toBe(tokens);
});

test("A recording has each transaction that the pool added, once, and the change of its accounts' balances.", () => {
  let balance = 700_000_000n;
  let emit: (event: PoolEvent) => void = () => {};
  const parts = {
    chain: { head: () => ({ height: 5 }), state: { get: () => ({ balance }) }, subscribe: () => () => {} },
    pool: {
      subscribe(listener: typeof emit) {
        emit = listener;
        return () => {};
      },
    },
  } as unknown as RecordedParts;
  const recorder = createRecorder(parts, cast, network);
  const { data } = seal(transfer, alice);
  const removed = seal({ ...transfer, nonce: 2n }, alice);
  emit({ name: "transaction.pool.added", transactions: [{ data }] } as unknown as PoolEvent);
  emit({ name: "transaction.pool.removed", transaction: removed });
  emit({ name: "transaction.pool.added", transactions: [{ data }] } as unknown as PoolEvent);
  balance -= 150_000_000n;
  const steps = recorder.scenario().steps;
  expect(steps.filter((step) => "transfer" in step)).toHaveLength(1);
  expect(steps).toContainEqual({ expect: { balance: { of: "account 0", is: "-1.5" } } });
});
