/** The gateway between the pool and the serving side (pool.md 3, consensus.md 11). */
import { createSlots } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { BodyError, type DevResult, type Gateway } from "../../src/gateway/gateway.ts";
import { present } from "../../src/platform/present.ts";
import { type GatewayDeps, NodeGateway } from "../../src/processes/node/node-gateway.ts";
import {
  createTestChain,
  FEE,
  type OpenPool,
  openPool,
  RICH,
  transfer,
} from "../../test-support/pool/chain.ts";
import { IDLE_NODE } from "../../test-support/pool/idle-node.ts";

function open(deps: Partial<GatewayDeps> = {}): { gateway: Gateway; pool: OpenPool } {
  const chain = createTestChain({ alice: RICH, bob: RICH });
  const pool = openPool(chain);
  const { network, head } = chain;
  const now = () => head().timestamp;
  const slots = createSlots(network);
  return {
    pool,
    gateway: new NodeGateway(
      { poolMaxPerRequest: 40 },
      {
        pool,
        network,
        slots,
        head,
        blocks: { header: () => undefined },
        now,
        ...IDLE_NODE,
        ...deps,
      },
    ),
  };
}

const mintWith = (properties: Record<string, string>) => ({
  ...transfer("alice", 2),
  typeGroup: 2000,
  amount: 0,
  asset: { nft: { unik: { tokenId: "ab".repeat(32), properties } } },
});

/** Text of the refusal of a body. */
async function bodyError(gateway: Gateway, transactions: unknown[]): Promise<string> {
  const error = await gateway.submit(transactions).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(BodyError);
  return (error as BodyError).message;
}

test("A body has at least one transaction and at most as many as the option allows.", async () => {
  const { gateway, pool } = open();
  expect(await bodyError(gateway, [])).toBe('"transactions" must have from 1 to 40 items, not 0');
  const many = Array.from({ length: 41 }, (_, index) => transfer("alice", index + 1));
  expect(await bodyError(gateway, many)).toBe('"transactions" must have from 1 to 40 items, not 41');
  expect(pool.size()).toBe(0);
  expect((await gateway.submit(many.slice(0, 40))).data.accept.length).toBe(40);
});

test("An item that is not a transaction of any type refuses the complete body.", async () => {
  const { gateway, pool } = open();
  const good = transfer("alice", 1);
  const { signature: _, ...unsigned } = transfer("alice", 2);
  const untyped =
    '"transactions.1" must name a known type by the integers "type" and "typeGroup", which is 1 if absent';
  for (const [bad, message] of [
    [{ foo: 1 }, untyped],
    [null, untyped],
    [unsigned, '"transactions.1.signature" is required'],
    [
      { ...transfer("alice", 2), network: 30 },
      '"transactions.1.network" must be 23, as on the whole network',
    ],
    [
      { ...transfer("alice", 2), amount: "0" },
      '"transactions.1.amount" must be an integer from 1 to 9223372036854775807, as a number or as text',
    ],
    [
      mintWith({ "usr/shape~": "x".repeat(256) }),
      '"transactions.1.asset.nft.unik.properties.usr/shape~" must NOT have more than 255 characters',
    ],
  ]) {
    expect(await bodyError(gateway, [good, bad])).toBe(message);
  }
  expect(pool.size()).toBe(0);
  expect((await gateway.submit([good])).data.accept).toEqual([good.id]);
});

test("An item without a type group is checked as one of group 1, after the body as a whole.", async () => {
  const { gateway, pool } = open();
  const { typeGroup: _core, ...transferAlone } = transfer("alice", 1);
  const { typeGroup: _nft, ...mintAlone } = mintWith({ type: "1" });
  const { data, errors } = await gateway.submit([transferAlone, mintAlone]);
  expect(data).toMatchObject({ accept: [transferAlone.id], invalid: [mintAlone.id] });
  expect(errors).toMatchObject({ [mintAlone.id]: [{ type: "ERR_TRANSACTION_SCHEMA" }] });
  // A disclosure requires its group: without it, the body as a whole is refused.
  const proof = { payload: { iss: "", sub: "", iat: 1 }, signature: "ab" };
  const asset = { "disclose-demand": proof, "disclose-demand-certification": proof };
  const disclosure = { ...transfer("alice", 2), typeGroup: 2001, amount: 0, asset };
  const { typeGroup: _uns, ...disclosureAlone } = disclosure;
  expect(await bodyError(gateway, [transfer("alice", 3), disclosureAlone])).toBe(
    '"transactions.1.amount" must be an integer from 1 to 9223372036854775807, as a number or as text',
  );
  expect((await gateway.submit([disclosure])).data.invalid).toEqual([disclosure.id]);
  expect(pool.size()).toBe(1);
});

test("Pending transactions are listed in forging order, page by page.", async () => {
  const { gateway } = open();
  const inputs = [transfer("alice", 1), transfer("bob", 1, { fee: 3n * FEE }), transfer("alice", 2)];
  await gateway.submit(inputs);
  const listed = async (offset: number, limit: number) => {
    const { transactions, totalCount } = await gateway.pendingTransactions({ offset, limit });
    expect(totalCount).toBe(3);
    return transactions.map(({ members }) => members.id);
  };
  const [first, second, third] = [present(inputs[1]).id, present(inputs[0]).id, present(inputs[2]).id];
  expect(await listed(0, 100)).toEqual([first, second, third]);
  expect(await listed(1, 1)).toEqual([second]);
  expect(await listed(2, 5)).toEqual([third]);
  expect(await listed(3, 1)).toEqual([]);
});

test("Pending transactions are listed from a given one on, at its current position.", async () => {
  const { gateway } = open();
  const inputs = [transfer("alice", 1), transfer("alice", 2)];
  await gateway.submit(inputs);
  const [first, second] = inputs.map(({ id }) => id);
  const after = async (afterId: string, index: number) => {
    const { transactions, offset } = await gateway.pendingTransactions({ afterId, offset: index, limit: 5 });
    return [offset, ...transactions.map(({ members }) => members.id)];
  };
  expect(await after(present(first), 0)).toEqual([1, second]);
  await gateway.submit([transfer("bob", 1, { fee: 3n * FEE })]);
  expect(await after(present(first), 0)).toEqual([2, second]);
  expect(await after(present(second), 1)).toEqual([3]);
  // Removed, perhaps with others before it: nothing may be hidden.
  const [foremost] = (await gateway.pendingTransactions({ offset: 0, limit: 1 })).transactions;
  expect(await after("00".repeat(32), 1)).toEqual([0, foremost?.members.id, first, second]);
});

test("A pending transaction is shown as it was submitted.", async () => {
  const { gateway } = open();
  const input = transfer("alice", 1, { vendorField: "text" });
  await gateway.submit([input]);
  expect(await gateway.pendingTransaction(input.id)).toEqual({ members: input, asset: null });
  expect(await gateway.pendingTransaction("00".repeat(32))).toBeUndefined();
});

test("A node without peers is in sync with the network.", async () => {
  const { gateway } = open({ now: () => 1e9 });
  expect(await gateway.status()).toEqual({ synced: true, now: 10, blocksCount: 0, timestamp: 1e9 });
});

const BOUNDS = { sessions: 1, handshakes: 2, banned: 3, refused: {}, cut: {}, evicted: 4, postsDropped: {} };

const peersAt = (height: number) => ({
  networkHeight: () => height,
  list: () => [],
  progress: () => undefined,
  traffic: () => ({ receivedBytes: 3, sentBytes: 4 }),
  bounds: () => BOUNDS,
  broadcastTransactions() {},
});

test("A node with peers is in sync for three slots after its head.", async () => {
  const head = () => ({ height: 10, timestamp: 80 });
  const status = (now: number) =>
    open({
      head,
      now: () => now,
      peers: peersAt(12),
    }).gateway.status();
  expect(await status(80 + 23)).toEqual({ synced: true, now: 10, blocksCount: 2, timestamp: 103 });
  expect(await status(80 + 24)).toMatchObject({ synced: false, blocksCount: 2 });
});

test("A node with peers that knows none is isolated from three slots after its head on.", async () => {
  const head = () => ({ height: 10, timestamp: 80 });
  const peers = { ...peersAt(0), networkHeight: () => undefined };
  const status = (now: number) => open({ head, now: () => now, peers }).gateway.status();
  expect(await status(80 + 23)).toEqual({ synced: true, now: 10, blocksCount: 0, timestamp: 103 });
  expect(await status(80 + 24)).toMatchObject({ synced: true, blocksCount: 0, isIsolated: true });
  const dev = async () => ({}) as DevResult;
  const { gateway } = open({ head, now: () => 80 + 24, peers, dev });
  expect(await gateway.status()).not.toHaveProperty("isIsolated");
});

test("A node whose head is in the future reports when a block can follow it.", async () => {
  const { gateway } = open({ now: () => 0 });
  expect(await gateway.status()).toMatchObject({
    futureHead: expect.stringMatching(
      /^the head is in the future: block 10 is 80 s ahead .* forging resumes at \S+Z/,
    ),
  });
});

test("A node that catches up reports its progress.", async () => {
  const progress = { target: 20, percent: 50, blocksPerSecond: 2, secondsLeft: 5 };
  const peers = { ...peersAt(20), progress: () => progress };
  const { gateway } = open({ peers });
  expect(await gateway.status()).toMatchObject({ blocksCount: 10, progress });
  expect(await gateway.figures()).toMatchObject({
    blocksBehind: 10,
    progress,
    traffic: { receivedBytes: 3, sentBytes: 4 },
    peerBounds: BOUNDS,
  });
});

test("A change of the webhooks is forwarded before the call returns.", async () => {
  let changes = 0;
  const subscribedEvents = { ...IDLE_NODE.subscribedEvents, webhooksChanged: () => void changes++ };
  const { gateway } = open({ subscribedEvents });
  await gateway.webhooksChanged();
  expect(changes).toBe(1);
});

test("The commands of the dev chain are refused on other nodes.", async () => {
  const { gateway } = open();
  await expect(gateway.dev({ name: "mine", blocks: 1 })).rejects.toMatchObject({ code: "DEV_ONLY" });
});
