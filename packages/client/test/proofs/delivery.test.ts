/** Deliveries with proofs: what a node that lies about a fact can make a receiver believe (webhooks.md 7.5). */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { decodeFullHeader, hexToBytes, present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { verifyDelivery } from "../../src/proofs/index.ts";
import {
  checkpointOf,
  createWorld,
  idOf,
  keysOf,
  proofOf,
  startOf,
  type TestBlock,
} from "../../test-support/proofs/world.ts";

const SIZE = 5;
const QUORUM = 4;
const SECRET = "5".repeat(64);
const world = createWorld(SIZE);
const delegates = keysOf("delegate", SIZE);
const first = world.round(startOf(world), delegates);
const checkpoint = checkpointOf(world, first);
const AT = 1_700_000_000;

type VectorCase = {
  readonly expect: { readonly serialized: string; readonly id: string; readonly json: object };
};

/** Transactions of version 2 of the network, of every group. */
const vectors = ["core", "magistrate", "multisignature", "nft", "uns"].flatMap((group) => {
  const url = new URL(`../../../../test/vectors/crypto/transactions-${group}.json`, import.meta.url);
  const { cases } = JSON.parse(readFileSync(url, "utf8")) as { cases: VectorCase[] };
  return cases
    .map(({ expect: { serialized, id, json } }) => ({ bytes: hexToBytes(serialized), id, json }))
    .filter(({ bytes: [, version, network] }) => version === 2 && network === world.network.addressVersion);
});

const isOfType = (json: object, group: number, type: number): boolean => {
  const { typeGroup = 1, type: own } = json as { typeGroup?: number; type: number };
  return typeGroup === group && own === type;
};

/** Continues the chain by a block with these transactions, and by blocks of the other delegates. */
function blocksWith(transactions: readonly Uint8Array[]): TestBlock[] {
  const blocks: TestBlock[] = [];
  for (const empty of world.round(present(first.at(-1)), delegates)) {
    const contents = blocks.length === 0 ? transactions : [];
    blocks.push(world.block(blocks.at(-1) ?? present(first.at(-1)), empty.slot, empty.generator, contents));
  }
  return blocks;
}

/** The body of a true delivery, which tests alter. */
function bodyOf(index: number, { event = "transaction.applied", headers = QUORUM } = {}) {
  const { bytes, id, json } = present(vectors[index]);
  const blocks = blocksWith([bytes]);
  const block = present(blocks[0]);
  const transaction = { typeGroup: 1, ...json, id, blockId: block.id, sequence: 0 };
  const { height, id: blockId } = block;
  return {
    ...{ timestamp: 1_000 * AT, event, id: "msg_1", webhookId: 1, height, blockId },
    data: event.startsWith("unik.")
      ? { tokenId: "7".repeat(64), ownerId: "owner", transaction }
      : transaction,
    proof: proofOf(world, { blocks: blocks.slice(0, headers), transaction: 0 }) as object,
  };
}

const nowMs = world.unixMs(present(first.at(-1)).slot + 2 * SIZE);

function verify(body: object) {
  const text = JSON.stringify(body);
  const signature = createHmac("sha256", Buffer.from(SECRET, "hex")).update(`msg_1.${AT}.${text}`);
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": `${AT}`,
    "webhook-signature": `v1,${signature.digest("base64")}`,
  };
  const options = { secret: SECRET, checkpoint, networkMs: nowMs, nowMs: () => 1_000 * AT };
  return verifyDelivery({ headers, body: text }, options);
}

test("The content of transactions of every type is proven.", async () => {
  const types = new Set<string>();
  for (const [index, { json }] of vectors.entries()) {
    const { type, typeGroup = 1 } = json as { type: number; typeGroup?: number };
    types.add(`${typeGroup}/${type}`);
    const outcome = await verify(bodyOf(index));
    expect(outcome, JSON.stringify(json)).toMatchObject({
      signature: "valid",
      proof: "final",
      proves: "data",
    });
  }
  expect(types.size).toBeGreaterThan(20);
});

test("The transaction of a fact about a unik is proven, but neither its owner nor its token.", async () => {
  const updating = vectors.findIndex(({ json }) => isOfType(json, 2000, 1));
  const body = bodyOf(updating, { event: "unik.updated" });
  expect(await verify(body)).toMatchObject({ proof: "final", proves: "transaction" });
});

test("The name of the event must be one that the transaction causes.", async () => {
  const transfer = vectors.findIndex(({ json }) => isOfType(json, 1, 0));
  const resignation = vectors.findIndex(({ json }) => isOfType(json, 1, 7));
  const refused = { proof: "none", reason: expect.stringMatching(/another fact/) };
  for (const event of ["delegate.registered", "delegate.resigned", "unik.minted"])
    expect(await verify(bodyOf(transfer, { event })), event).toMatchObject(refused);
  const resigned = bodyOf(resignation, { event: "delegate.resigned" });
  expect(await verify(resigned)).toMatchObject({ proof: "final", proves: "data" });
  const shortened = { ...bodyOf(transfer, { event: "delegate.resigned" }), truncated: true };
  expect(await verify(shortened)).toMatchObject(refused);
  const vote = vectors.findIndex(({ json }) => isOfType(json, 1, 3) && JSON.stringify(json).includes('["+'));
  const { data: transaction, ...others } = bodyOf(vote);
  const body = { ...others, data: { delegate: "+key", transaction } };
  expect(await verify({ ...body, event: "wallet.vote" })).toMatchObject({ proves: "transaction" });
  expect(await verify({ ...body, event: "wallet.unvote" })).toMatchObject(refused);
});

test("A block is proven with its content.", async () => {
  const blocks = blocksWith([]);
  const block = present(blocks[0]);
  const header = decodeFullHeader(hexToBytes(block.header));
  const { totalAmount, totalFee, reward } = header;
  const data = { ...header, totalAmount: `${totalAmount}`, totalFee: `${totalFee}`, reward: `${reward}` };
  const body = {
    ...{ timestamp: 1, event: "block.applied", id: "msg_1", webhookId: 1, height: block.height },
    ...{ blockId: block.id, data, proof: proofOf(world, { blocks: blocks.slice(0, QUORUM) }) },
  };
  expect(await verify(body)).toMatchObject({ proof: "final", proves: "data" });
  const richer = { ...body, data: { ...data, reward: "300000000" } };
  expect(await verify(richer)).toMatchObject({
    proof: "none",
    reason: expect.stringMatching(/another fact/),
  });
});

test("Too few signers, no proof, and a link are reported.", async () => {
  expect(await verify(bodyOf(0, { headers: 1 }))).toMatchObject({ proof: "included", proves: "data" });
  const { proof: _, ...without } = bodyOf(0);
  expect(await verify(without)).toEqual({
    delivery: without,
    signature: "valid",
    proof: "none",
    reason: "the delivery has no proof",
  });
  const link = "/api/v2/transactions/0/proof";
  expect(await verify({ ...without, proof: { link } })).toMatchObject({ proof: "none", link });
});

test("A node cannot pass a true proof off as that of a false fact.", async () => {
  const body = bodyOf(0);
  const { data, proof } = body;
  const other = bodyOf(1);
  const lies: Record<string, object> = {
    "another amount": { ...body, data: { ...data, amount: "999900000000" } },
    "a number instead of text": {
      ...body,
      data: { ...data, amount: 700 },
    },
    "another recipient": { ...body, data: { ...data, recipientId: "UV3rT7Soh3rJX5t5obdeiaLeiBYjeoUjJy" } },
    "a further member": { ...body, data: { ...data, vendorField: "paid", memo: "paid" } },
    "a member less": { ...body, data: { ...data, signature: undefined } },
    "another position": { ...body, data: { ...data, sequence: 1 } },
    "another transaction": { ...body, proof: other.proof },
    "another block": { ...body, blockId: other.blockId },
    "another height": { ...body, height: body.height + 1 },
    "no height": { ...body, height: undefined },
    "the content of a block": { ...body, event: "block.applied" },
    "a final block": { ...body, event: "block.finalized" },
    "a unik": { ...body, event: "unik.minted" },
    "no content": { ...body, data: undefined },
    "a list": { ...body, data: [data] },
  };
  for (const [name, lie] of Object.entries(lies)) {
    expect(await verify(lie), name).toMatchObject({
      proof: "none",
      reason: expect.stringMatching(/another fact/),
    });
  }
  const block = { ...proof, transaction: undefined };
  expect(await verify({ ...body, proof: block })).toMatchObject({ proof: "final", proves: "block" });
  for (const false_ of [
    null,
    7,
    "text",
    [],
    {},
    { ...proof, headers: [] },
    { ...proof, ids: [idOf(new Uint8Array())] },
  ]) {
    expect(await verify({ ...body, proof: false_ })).toMatchObject({
      proof: "none",
      reason: expect.any(String),
    });
  }
});

test("Neither a retraction nor an event of another kind is proven by its transaction.", async () => {
  const retraction = { ...bodyOf(0), event: "transaction.reverted", reverts: "msg_0" };
  expect(await verify(retraction)).toMatchObject({ proof: "none", reason: "a retraction has no proof" });
  const expired = { ...bodyOf(0), event: "transaction.expired" };
  expect(await verify(expired)).toMatchObject({ proof: "none" });
});

test("A shortened content proves its transaction only.", async () => {
  const body = bodyOf(0);
  const { id } = body.data as { id: string };
  expect(await verify({ ...body, truncated: true, data: { id } })).toMatchObject({
    proof: "final",
    proves: "transaction",
  });
});
