/** Behaviour of programs that use `@arkecosystem/client` 1.1 and `@arkecosystem/crypto` 2.7. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { people, serveEverything } from "../../test-support/clients/chain.ts";
import { until, WAIT_MS } from "../../test-support/process/until.ts";
import {
  type ApiResponse,
  type Builder,
  type BuilderName,
  type Built,
  Connection,
  call,
  crypto,
  type Page,
} from "./libraries.ts";

const [alice, bob, carol, dave, erin, frank] = people.map(({ passphrase, publicKey, address }) => ({
  passphrase,
  publicKey,
  address,
}));
if (!alice || !bob || !carol || !dave || !erin || !frank) throw new Error("too few people");
type Account = typeof alice;

let node: Awaited<ReturnType<typeof serveEverything>>;
let connection: InstanceType<typeof Connection>;
beforeAll(async () => {
  node = await serveEverything();
  connection = new Connection(`${node.url}/api`).withOptions({ timeout: WAIT_MS });
  const { body } = await call<{ data: unknown }>(connection, "node", "crypto");
  crypto.Managers.configManager.setConfig(body.data);
  // On top of the first block, only version 1 is in force (trap A1).
  crypto.Managers.configManager.setHeight(1);
  const first = crypto.Transactions.BuilderFactory.transfer().version(1).recipientId(bob.address);
  await confirmed(signed(first.amount("1"), frank));
  crypto.Managers.configManager.setHeight(2);
});
afterAll(() => node.stop());

type Wallet = { nonce: string; balance: number; attributes: Record<string, unknown> } & Record<
  string,
  unknown
>;

async function walletOf({ address }: { address: string }): Promise<Wallet> {
  return (await call<{ data: Wallet }>(connection, "wallets", "get", address)).body.data;
}

/** Sets the common members of every transaction on a builder. */
async function begin(name: BuilderName, sender: { address: string }): Promise<Builder> {
  const builder = crypto.Transactions.BuilderFactory[name]();
  return builder.version(2).nonce(`${BigInt((await walletOf(sender)).nonce) + 1n}`);
}

const signed = (builder: Builder, { passphrase }: Account): Built => builder.sign(passphrase).getStruct();

type Submission = { data: Record<"accept" | "broadcast" | "excess" | "invalid", string[]>; errors?: unknown };

const post = (transactions: Built[]) =>
  call<Submission>(connection, "transactions", "create", { transactions });

/** Submits a transaction and waits for its block, as clients do: 404 until it is there. */
async function confirmed(transaction: Built): Promise<Record<string, unknown>> {
  const { status, body } = await post([transaction]);
  expect(body.errors, JSON.stringify(transaction)).toBeUndefined();
  expect([status, body.data.accept]).toEqual([200, [transaction.id]]);
  return until(`no block contains ${transaction.id}`, () => found(transaction.id));
}

async function found(id: string): Promise<Record<string, unknown> | undefined> {
  try {
    return (await call<ApiResponse["body"]>(connection, "transactions", "get", id)).body.data;
  } catch (error) {
    const { response } = error as { response?: { status: number; body: unknown } };
    expect(response).toMatchObject({ status: 404, body: { message: "Transaction not found" } });
    return undefined;
  }
}

describe("builds, signs, posts and reads", () => {
  test("The ARK client builds, signs, posts and reads transfers.", async () => {
    const builder = (await begin("transfer", alice))
      .recipientId(bob.address)
      .amount("123")
      .vendorField("tea ☕");
    expect(await confirmed(signed(builder, alice))).toMatchObject({
      type: 0,
      amount: 123,
      recipient: bob.address,
      sender: alice.address,
      vendorField: "tea ☕",
      asset: {},
    });
  });

  test("The ARK client builds, signs, posts and reads second signatures, and transactions signed with them.", async () => {
    const words = "a second passphrase";
    const registration = (await begin("secondSignature", bob)).signatureAsset(words);
    await confirmed(signed(registration, bob));
    const { secondPublicKey } = await walletOf(bob);
    expect(secondPublicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    const transfer = (await begin("transfer", bob)).recipientId(alice.address).amount("1");
    const both = transfer.sign(bob.passphrase).secondSign(words).getStruct();
    expect(await confirmed(both)).toMatchObject({ signSignature: expect.stringMatching(/^[0-9a-f]{128,}$/) });
  });

  test("The ARK client handles delegates: registration, vote, withdrawal, resignation.", async () => {
    const registration = (await begin("delegateRegistration", carol)).usernameAsset("carol_of_ark");
    await confirmed(signed(registration, carol));
    const vote = (await begin("vote", alice)).votesAsset([`+${carol.publicKey}`]);
    expect(await confirmed(signed(vote, alice))).toMatchObject({ asset: { votes: [`+${carol.publicKey}`] } });
    const voters = await call<Page>(connection, "delegates", "voters", "carol_of_ark");
    expect(voters.body.data).toMatchObject([{ address: alice.address, vote: carol.publicKey }]);
    const unvote = (await begin("vote", alice)).votesAsset([`-${carol.publicKey}`]);
    await confirmed(signed(unvote, alice));
    await confirmed(signed(await begin("delegateResignation", carol), carol));
    const { body } = await call<ApiResponse["body"]>(connection, "delegates", "get", "carol_of_ark");
    expect(body.data).toMatchObject({ username: "carol_of_ark", isResigned: true });
  });

  test("The ARK client builds, signs, posts and reads multi signatures, and transactions signed by several.", async () => {
    const signers = [dave, erin, frank];
    const publicKeys = signers.map(({ publicKey }) => publicKey);
    const asset = { publicKeys, min: 2 };
    const builder = (await begin("multiSignature", dave))
      .multiSignatureAsset(asset)
      .senderPublicKey(dave.publicKey);
    for (const [index, { passphrase }] of signers.entries()) builder.multiSign(passphrase, index);
    await confirmed(signed(builder, dave));
    const address = crypto.Identities.Address.fromMultiSignatureAsset(asset);
    expect(await walletOf({ address })).toMatchObject({ multiSignature: { min: 2, publicKeys } });

    const funds = (await begin("transfer", alice)).recipientId(address).amount("500000000");
    await confirmed(signed(funds, alice));
    const spend = (await begin("transfer", { address })).recipientId(erin.address).amount("7");
    spend.senderPublicKey(crypto.Identities.PublicKey.fromMultiSignatureAsset(asset));
    spend.multiSign(dave.passphrase, 0).multiSign(frank.passphrase, 2);
    expect(await confirmed(spend.getStruct())).toMatchObject({
      sender: address,
      signatures: [{}, {}].map(() => expect.any(String)),
    });
  });

  test("The ARK client builds, signs, posts and reads ipfs hashes and multi payments.", async () => {
    const hash = "QmYSK2JyM3RyDyB52caZCTKFR3HKniEcMnNJYdk8DQ6KKB";
    expect(await confirmed(signed((await begin("ipfs", erin)).ipfsAsset(hash), erin))).toMatchObject({
      asset: { ipfs: hash },
    });
    const payments = (await begin("multiPayment", erin))
      .addPayment(alice.address, "1")
      .addPayment(bob.address, "2");
    expect(await confirmed(signed(payments, erin))).toMatchObject({
      asset: {
        payments: [
          { recipientId: alice.address, amount: "1" },
          { recipientId: bob.address, amount: "2" },
        ],
      },
    });
  });

  test("The ARK client builds, signs, posts and reads locks: claims and refunds.", async () => {
    const unlockSecret = "c27f1ce845d8c29eebc9006be932b604fd06755521b1a8b0be4204c65377151a";
    const secretHash = crypto.Crypto.HashAlgorithms.sha256(Buffer.from(unlockSecret, "hex")).toString("hex");
    const lock = async (value: number) => {
      const builder = (await begin("htlcLock", alice)).recipientId(frank.address).amount("40");
      const transaction = signed(
        builder.htlcLockAsset({ secretHash, expiration: { type: 2, value } }),
        alice,
      );
      await confirmed(transaction);
      return transaction.id;
    };
    const height = async () =>
      (await call<ApiResponse<{ data: { now: number } }>["body"]>(connection, "node", "status")).body.data
        .now;

    const claimed = await lock((await height()) + 1_000);
    expect((await call<ApiResponse["body"]>(connection, "locks", "get", claimed)).body.data).toMatchObject({
      lockId: claimed,
      isExpired: false,
    });
    const claim = (await begin("htlcClaim", frank)).htlcClaimAsset({
      lockTransactionId: claimed,
      unlockSecret,
    });
    await confirmed(signed(claim, frank));

    // The next six blocks, one for each delegate, are refused as too close.
    const expired = await lock((await height()) + 8);
    const isExpired = async () =>
      (await call<ApiResponse["body"]>(connection, "locks", "get", expired)).body.data.isExpired;
    while (!(await isExpired())) {
      const another = (await begin("transfer", alice)).recipientId(bob.address).amount("1");
      await confirmed(signed(another, alice));
    }
    const refund = (await begin("htlcRefund", alice)).htlcRefundAsset({ lockTransactionId: expired });
    await confirmed(signed(refund, alice));
    const unlocked = await call<Page>(connection, "locks", "unlocked", { ids: [claimed, expired] });
    expect(unlocked.body.data.map(({ type }) => type).sort()).toEqual([10, 9].sort());
  });

  test("The ARK client builds, signs, posts and reads refused transactions, and the reasons.", async () => {
    const builder = (await begin("transfer", alice)).recipientId(bob.address).amount("1").fee("1");
    const transaction = signed(builder, alice);
    const { status, body } = await post([transaction]);
    expect([status, body.data.invalid]).toEqual([200, [transaction.id]]);
    expect(body.errors).toMatchObject({ [transaction.id]: [{ type: "ERR_LOW_FEE" }] });
  });
});

describe("reads", () => {
  test("The ARK client reads single objects.", async () => {
    const { body } = await call<Page>(connection, "transactions", "all", { limit: 1 });
    const [{ blockId, id } = {}] = body.data;
    const singles: [resource: string, name: string, ...given: unknown[]][] = [
      ["blocks", "first"],
      ["blocks", "last"],
      ["blocks", "get", blockId],
      ["blocks", "get", 2],
      ["delegates", "get", "founder_1"],
      ["node", "configuration"],
      ["node", "fees", 7],
      // The argument is omitted: the library sends `days=undefined`.
      ["node", "fees"],
      ["node", "status"],
      ["node", "syncing"],
      ["rounds", "delegates", 1],
      ["transactions", "get", id],
      ["transactions", "types"],
      ["transactions", "fees"],
      ["transactions", "schemas"],
      ["wallets", "get", alice.publicKey],
    ];
    for (const [resource, name, ...given] of singles) {
      const { status, body } = await call<{ data?: unknown }>(connection, resource, name, ...given);
      expect([status, typeof body.data], `${resource}.${name}`).toEqual([200, "object"]);
    }
  });

  test("The ARK client reads errors for objects that this network does not have.", async () => {
    for (const resource of ["businesses", "bridgechains"]) {
      const refusal = call(connection, resource, "all");
      await expect(refusal).rejects.toMatchObject({
        response: { status: 404, body: { error: "Not Found" } },
      });
    }
  });
});

test.each([
  ["a type on a request without a body", "/api/blockchain", { "content-type": "application/json" }],
  ["another media type", "/api/v2/blockchain", { accept: "application/vnd.core-api.v2+json" }],
  ["a version", "/api/blockchain", { "api-version": "2" }],
  ["an unknown encoding", "/api/blockchain", { "accept-encoding": "br;q=1, *;q=0" }],
  ["a trailing slash", "/api/v2/blockchain/", {}],
])("The node understands %s.", async (_what, path, headers) => {
  const response = await fetch(`${node.url}${path}`, { headers });
  expect(response.status).toBe(200);
  expect(await response.json()).toHaveProperty("data.block.height");
});
