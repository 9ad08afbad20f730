/** Replays of a delivery worker: during a reorganisation, no receiver keeps a fact of a block that is not on the chain; with proofs. */
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@uniknode/client";
import { createCheckpoint, verifyDelivery } from "@uniknode/client/proofs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCopy } from "../../src/mirror/events/rows.ts";
import { readHead } from "../../src/mirror/head.ts";
import type { WebhookFields } from "../../src/webhooks/model/webhook.ts";
import { PostgresStore } from "../../src/webhooks/postgres/sql.ts";
import { createRegisterCommands } from "../../src/webhooks/postgres/storage.ts";
import { PLAIN_SECRETS } from "../../src/webhooks/secrets.ts";
import { ReplayRows } from "../../src/webhooks/storage/replays.ts";
import { type MirroredDevChain, startMirroredDevChain } from "../../test-support/mirror/dev-chain.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import { type HeldReceiver, startHeldReceiver } from "../../test-support/webhooks/held-receiver.ts";
import { ownByWorkers } from "../../test-support/webhooks/postgres-rows.ts";

const TOKEN = "5".repeat(64);
/** Time for a replay that does not wait. */
const REPLAY_MS = 3_000;

let chain: MirroredDevChain;
let receiver: HeldReceiver;
let worker: Running;

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startMirroredDevChain();
  chain.startMirror();
  await chain.followed();
  await ownByWorkers(chain.postgres);
  receiver = await startHeldReceiver();
  worker = spawnUniknode([
    ...["deliver", "--database-url", chain.databaseUrl, "--name", "a", "--operations-port", "0"],
    "--webhook-private-targets",
  ]);
});
afterAll(async () => {
  worker?.child.kill("SIGTERM");
  await worker?.ended;
  await receiver?.close();
  await chain?.closeAll();
});

type Message = {
  readonly id: string;
  readonly reverts?: string;
  readonly height: number;
  readonly data: { readonly id: string };
};
const messages = (): Message[] => receiver.calls.map(({ body }) => JSON.parse(body) as Message);

/** Registers a webhook that receives the later blocks. Returns its id. */
async function register(given: Partial<WebhookFields> = {}): Promise<number> {
  const after = await chain.recordEvents(["block.applied", "block.reverted"]);
  const commands = createRegisterCommands({
    postgres: chain.postgres,
    cipher: PLAIN_SECRETS,
    lastEvent: async () => after,
  });
  const fields: WebhookFields = {
    ...{ event: "block.applied", events: [], conditions: "[]", match: "any", confirmations: 0, proof: false },
    ...{ target: `${receiver.url}/hook`, enabled: true, order: "parallel" },
    ...given,
  };
  const { id } = await commands.insert({ fields, token: TOKEN }, 10_000);
  await commands.activate(id);
  return id;
}

/** Prevents the mirror from reverting blocks until the returned function is called. */
async function holdBlocks(): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
  const held = chain.postgres.transaction("READ WRITE", async ({ change }) => {
    await change("LOCK TABLE blocks IN SHARE MODE");
    onLocked();
    await released;
  });
  await Promise.race([locked, held]);
  return () => {
    release();
    return held;
  };
}

describe.skipIf(!hasPostgres)("a replay", () => {
  test("A replay waits for the mirror after a retraction.", async () => {
    await expect.poll(async () => (await readCopy(chain.postgres)).isStarted).toBe(true);
    const webhook = await register();
    await chain.command("forge", { enabled: false });
    await chain.command("mine", { blocks: 5 });
    const { height } = await chain.head();
    await expect.poll(() => messages().some((message) => message.height === height)).toBe(true);
    await expect.poll(async () => (await readHead(chain.postgres))?.height).toBe(height);

    const release = await holdBlocks();
    await chain.command("reorg", { depth: 2, blocks: 3 });
    await expect.poll(() => messages().filter(({ reverts }) => reverts).length).toBe(2);
    const replays = new ReplayRows(new PostgresStore(chain.postgres));
    await replays.start(webhook, { fromHeight: height - 1, toHeight: height }, Date.now());
    await sleep(REPLAY_MS);
    await release();
    await expect.poll(async () => (await readHead(chain.postgres))?.height).toBe(height + 1);
    await expect.poll(async () => (await replays.find(webhook))?.state).toBe("finished");
    await expect.poll(() => messages().some((message) => message.height === height + 1)).toBe(true);

    const retracted = new Set(messages().map(({ reverts }) => reverts));
    const facts = messages().filter(({ id, reverts }) => reverts === undefined && !retracted.has(id));
    const known = [...new Set(facts.map(({ data }) => data.id))];
    const rows = await chain.postgres.query<{ id: string }>("SELECT id FROM blocks");
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(known));
  });

  test("A replay proves past blocks, which are final for a client with a checkpoint.", async () => {
    // Blocks of consecutive slots, so that the confirmations of each are of enough delegates; a busy node misses slots.
    await chain.command("mine", { blocks: 40 });
    const { height } = await chain.head();
    await chain.followed();
    const webhook = await register({ proof: true, confirmations: 6, target: `${receiver.url}/proofs` });
    const replays = new ReplayRows(new PostgresStore(chain.postgres));
    await replays.start(webhook, { fromHeight: height - 30, toHeight: height - 24 }, Date.now());
    const calls = () => receiver.calls.filter(({ path }) => path === "/proofs");
    await expect.poll(() => calls().length).toBe(7);
    const checkpoint = await createCheckpoint(createClient({ url: chain.url, timeoutMs: WAIT_MS }));
    // The clock of the chain is ahead.
    const options = { secret: TOKEN, checkpoint, networkMs: Date.now() + 3_600_000 };
    for (const call of calls()) {
      expect(await verifyDelivery(call, options)).toMatchObject({ proof: "final", proves: "data" });
    }
  });
});
