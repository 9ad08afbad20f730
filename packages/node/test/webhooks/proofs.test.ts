/** Deliveries with proofs, verified as a receiver verifies them (webhooks.md 7.5). */
import { type Checkpoint, type ProvenDelivery, verifyDelivery } from "@uniknode/client/proofs";
import { type BlockHeader, blockFromTrustedBytes, createRounds, createSlots } from "@uniknode/protocol";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { createProveFact, type ProveFact } from "../../src/proofs/assemble.ts";
import { SqliteReadModel } from "../../src/read/sqlite/read-model.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { MAX_PROOF_CHARACTERS } from "../../src/webhooks/proof-text.ts";
import { createForkingChain, network } from "../../test-support/chain/forking.ts";
import { checkpointAt } from "../../test-support/proofs/checkpoint.ts";
import {
  always,
  type Call,
  createService,
  databasePath,
  type Service,
  settle,
} from "../../test-support/webhooks/support.ts";

const { maxDelegates: SIZE } = createRounds(network).roundAt(1);
const slots = createSlots(network);

type World = Service & {
  readonly chain: ReturnType<typeof createForkingChain>;
  /** Forges a block, with a transfer if requested. */
  forge(withTransfer?: boolean): Promise<BlockHeader>;
  checkpoint(): Checkpoint;
  networkMs(): number;
};

/** A chain whose events a webhook service delivers. */
function openWorld(proveFact: (path: string) => ProveFact = proveFrom): World {
  const path = databasePath();
  const service = createService({ path, createProveFact: () => proveFact(path) });
  const chain = createForkingChain(path);
  const headers = new Map<number, BlockHeader>();
  let sent = 0;
  return {
    ...service,
    chain,
    async forge(withTransfer = false) {
      const transactions = withTransfer ? [chain.transfer(sent++ % 8, 7n)] : [];
      const { header } = blockFromTrustedBytes(await chain.forge(transactions), network);
      headers.set(header.height, header);
      service.webhooks.notify();
      await settle();
      return header;
    },
    checkpoint: () => checkpointAt(2 * SIZE, (height) => present(headers.get(height), `block ${height}`)),
    networkMs: () => slots.unixMsOf(chain.chain.head().timestamp),
  };
}

function proveFrom(path: string): ProveFact {
  const database = openDatabase(path, { readonly: true });
  onTestFinished(database.close);
  return createProveFact(new SqliteReadModel({}, { database, network }), network);
}

/** Verifies the calls of a webhook, by event. */
async function verifyAll(
  { calls, clock, checkpoint, networkMs }: World,
  secret: string,
): Promise<Map<string, ProvenDelivery[]>> {
  const verify = ({ headers, body }: Call) =>
    verifyDelivery(
      { headers, body },
      { secret, checkpoint: checkpoint(), networkMs: networkMs(), nowMs: clock.nowMs },
    );
  return Map.groupBy(await Promise.all(calls.map(verify)), ({ delivery }) => delivery.event);
}

const register = async ({ webhooks }: World, fields: object): Promise<string> => {
  const { secrets } = await webhooks.register.create({ ...always("block.applied"), ...fields });
  return secrets.token;
};

test("A delivery after enough confirmations proves that its fact is final.", async () => {
  const world = openWorld();
  const events = ["transaction.applied", "unik.minted", "wallet.saved", "round.created"];
  // The block above the genesis block has no proof.
  await world.forge();
  const secret = await register(world, { events, proof: true, confirmations: SIZE });
  for (let height = 3; height <= 2 * SIZE; height++) await world.forge();
  const { id } = await world.forge(true);
  await world.chain.forge([world.chain.mint(3)]);
  for (let height = 0; height < 2 * SIZE; height++) await world.forge();
  const byEvent = await verifyAll(world, secret);
  const outcomes = [...byEvent].map(([event, of]) => [
    event,
    new Set(of.map((one) => `${one.proof} ${one.proves}`)),
  ]);
  expect(new Map(outcomes as [string, Set<string>][])).toEqual(
    new Map([
      // The genesis block, and the block above it, whose parent is the genesis block, have proofs on a dev chain.
      ["block.applied", new Set(["final data"])],
      ["round.created", new Set(["final block"])],
      ["wallet.saved", new Set(["final block"])],
      ["transaction.applied", new Set(["final data"])],
      ["unik.minted", new Set(["final transaction"])],
    ]),
  );
  const [transfer] = present(byEvent.get("transaction.applied"));
  expect(transfer).toMatchObject({
    signature: "valid",
    proven: { block: { id }, checkpoint: world.checkpoint() },
  });
});

test("Without enough confirmations, a delivery proves inclusion with a single header.", async () => {
  const world = openWorld();
  const secret = await register(world, { event: "transaction.applied", proof: "true" });
  for (let height = 2; height <= 2 * SIZE; height++) await world.forge();
  await world.forge(true);
  const [delivery] = present((await verifyAll(world, secret)).get("transaction.applied"));
  expect(delivery).toMatchObject({ proof: "included", proves: "data", proven: { signers: 1 } });
  expect(delivery?.delivery.proof).toMatchObject({ headers: [expect.any(String)], advances: [] });
});

test("Every attempt has the same body.", async () => {
  const path = databasePath();
  const service = createService({
    ...{ path, createProveFact: () => proveFrom(path) },
    reply: () => 500,
  });
  const chain = createForkingChain(path);
  await service.webhooks.register.create({ ...always(), proof: true });
  for (let attempt = 0; attempt < 3; attempt++) {
    await chain.forge();
    service.webhooks.notify();
    await service.clock.advance(120_000);
  }
  const bodies = service.calls.filter(({ message }) => message.height === 3).map(({ body }) => body);
  expect(bodies.length).toBeGreaterThan(1);
  expect(new Set(bodies).size).toBe(1);
  expect(JSON.parse(present(bodies[0]))).toHaveProperty("proof.headers");
});

test("A delivery has a link if its proof is too long, or cannot be read.", async () => {
  const long: ProveFact = async () => ({
    ...{ nethash: "0".repeat(64), ids: [], advances: [], rounds: [] },
    headers: ["0".repeat(MAX_PROOF_CHARACTERS)],
  });
  const failing: ProveFact = async () => {
    throw new Error("the database does not respond");
  };
  for (const proveFact of [long, failing]) {
    const world = openWorld(() => proveFact);
    const secret = await register(world, { events: ["transaction.applied"], proof: true });
    for (let height = 2; height <= 2 * SIZE; height++) await world.forge();
    const { id } = await world.forge(true);
    const byEvent = await verifyAll(world, secret);
    const transfer = present(byEvent.get("transaction.applied")?.[0]);
    const transaction = (transfer.delivery.data as { id: string }).id;
    expect(transfer).toMatchObject({ proof: "none", link: `/api/v2/transactions/${transaction}/proof` });
    expect(byEvent.get("block.applied")?.at(-1)).toMatchObject({ link: `/api/v2/blocks/${id}/proof` });
  }
});

test("Retractions and events of the node have no proof, nor has any delivery of a webhook without proofs.", async () => {
  const world = openWorld();
  const secret = await register(world, { proof: true, events: ["forger.started"] });
  for (let height = 2; height <= 2 * SIZE; height++) await world.forge();
  await world.chain.chain.revertTo(2 * SIZE - 1);
  await world.emit({ id: "forger.started:1", name: "forger.started", data: { activeDelegates: [] } });
  const byEvent = await verifyAll(world, secret);
  for (const event of ["block.reverted", "forger.started"]) {
    expect(
      byEvent.get(event)?.map(({ proof }) => proof),
      event,
    ).toEqual(["none"]);
  }
  world.calls.length = 0;
  const plain = await register(world, {});
  await world.forge();
  const others = world.calls.filter(({ message }) => message.webhookId === 2);
  expect(others.map(({ message }) => message.proof)).toEqual([undefined]);
  expect(plain).not.toBe(secret);
});

test("A block is reported as final with a final proof, without confirmations, and retracted with the block that made it final.", async () => {
  const world = openWorld();
  const secret = await register(world, { event: "block.finalized", proof: true });
  for (let height = 2; height <= 3 * SIZE; height++) await world.forge();
  const deliveries = present((await verifyAll(world, secret)).get("block.finalized"));
  const heights = deliveries.map(({ delivery }) => (delivery.data as BlockHeader).height);
  expect(heights).toEqual(Array.from({ length: heights.length }, (_, index) => index + 2));
  expect(heights.length).toBeGreaterThan(SIZE);
  const results = deliveries.slice(1).map(({ proof, proves }) => `${proof} ${proves}`);
  expect([...new Set(results)]).toEqual(["final data"]);
  await world.chain.chain.revertTo(3 * SIZE - 1);
  world.webhooks.notify();
  await settle();
  const [retraction, ...others] = present((await verifyAll(world, secret)).get("block.finalized.reverted"));
  expect(retraction?.delivery).toMatchObject({ height: 3 * SIZE, reverts: deliveries.at(-1)?.delivery.id });
  expect(others).toEqual([]);
});
