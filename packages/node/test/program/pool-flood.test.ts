/** Bounds on a flood of transactions, during which honest ones are forged. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builders, type SealedTransaction, signTransaction, type Transaction } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { Contents } from "../../src/pool/contents/contents.ts";
import { Journal } from "../../src/pool/contents/journal.ts";
import { Pending } from "../../src/pool/contents/pending.ts";
import type { PoolEvent } from "../../src/pool/events.ts";
import { createTestChain, openPool, RICH, transfer } from "../../test-support/pool/chain.ts";
import { connect } from "../../test-support/process/client.ts";
import { apiUrlOf, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";

/** Transactions with only the members that the pool sorts by. */
const sized = (id: string, fee: bigint, bytes: number) =>
  ({
    data: { id, fee, senderPublicKey: id, nonce: 1n },
    bytes: new Uint8Array(bytes),
  }) as unknown as SealedTransaction;

test("A pool at its bound of bytes accepts a higher fee, if the evicted transaction frees enough bytes.", () => {
  const pending = new Pending();
  const contents = new Contents(
    { maxTransactions: 10, maxBytes: 1_000 },
    {
      pending,
      senders: {
        apply: () => undefined,
        rebuild: () => [],
        clear: () => {},
      },
      journal: {
        added: () => {},
        removed: () => {},
        report: () => {},
      },
    },
  );
  const insert = (id: string, fee: bigint, bytes: number) => {
    const insertion = contents.insert(sized(id, fee, bytes));
    return insertion.isAdded ? (insertion.evicted?.data.id ?? "added") : insertion.code;
  };
  expect(insert("a", 5n, 600)).toBe("added");
  expect(insert("b", 4n, 400)).toBe("added");
  expect(pending.byteLength()).toBe(1_000);
  expect(insert("c", 4n, 1)).toBe("ERR_POOL_FULL");
  expect(insert("d", 9n, 401)).toBe("ERR_POOL_FULL");
  expect(insert("e", 9n, 300)).toBe("b");
  expect(pending.byteLength()).toBe(900);
  expect(insert("f", 1n, 100)).toBe("added");
  expect(pending.size()).toBe(3);
});

test("At most ten thousand transactions are checked at the same time; later ones are accepted again.", async () => {
  const verified = Promise.withResolvers<void>();
  const pool = openPool(createTestChain({ alice: RICH, bob: RICH }), {
    deps: {
      verify: async (checks) => {
        await verified.promise;
        return checks.map(() => true);
      },
    },
  });
  const first = pool.submit([transfer("alice", 1)]);
  const waiting = Array.from({ length: 249 }, () => pool.submit(Array.from({ length: 40 }, () => ({}))));
  expect(pool.figures().poolWaiting).toBe(9_961);
  await expect(pool.submit(Array.from({ length: 40 }, () => ({})))).rejects.toMatchObject({
    code: "POOL_BUSY",
    isRetryable: true,
  });
  expect(pool.figures().poolRefused).toEqual({ POOL_BUSY: 40 });
  verified.resolve();
  expect((await first).data.accept).toHaveLength(1);
  await Promise.all(waiting);
  expect(pool.figures()).toMatchObject({ poolWaiting: 0, poolBytes: expect.any(Number) });
  expect(pool.figures().poolBytes).toBeGreaterThan(100);
  expect((await pool.submit([transfer("bob", 1)])).data.accept).toHaveLength(1);
});

test("Events of refused transactions are bounded while the database cannot be written.", async () => {
  let isFull = true;
  let emitted = 0;
  const journal = new Journal({
    store: {
      load: () => [],
      write(_change, emit) {
        if (isFull) throw new Error("disk full");
        emit?.();
      },
    },
    emit: () => void emitted++,
  });
  const rejected: PoolEvent = { name: "transaction.pool.rejected", rejected: [] };
  for (let report = 0; report < 15_000; report++) journal.report(rejected);
  journal.report({ name: "transaction.pool.added", transactions: [] });
  await journal.flush().catch(() => {});
  isFull = false;
  await journal.flush();
  expect(emitted).toBe(10_001);
});

const MNEMONIC = "test test test test test test test test test test test junk";

test("A flooded node forges the honest transaction in the next block.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-flood-"));
  const node = spawnUniknode([
    ...["dev", "--data", folder, "--http-port", "0", "--block-time", "2", "--webhooks", "off"],
  ]);
  try {
    const url = await apiUrlOf(node);
    const { network, get, submit } = await connect(url);
    const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
    const head = async () => ((await get("/api/blockchain")) as { block: { height: number } }).block.height;
    const signed = (name: string, nonce: number, amount = 1) => {
      const { publicKey, keys } = people(name);
      const recipientId = people("account 9").address;
      const envelope = { network, senderPublicKey: publicKey, nonce: BigInt(nonce), fee: 10_000_000n };
      return signTransaction(builders.transfer({ ...envelope, recipientId, amount: BigInt(amount) }), keys);
    };
    const range = (count: number, make: (index: number) => Transaction) =>
      Array.from({ length: count }, (_, i) => make(i));
    const floods = {
      unfunded: range(120, (index) => signed(`stranger ${index}`, 1)),
      gaps: range(120, (index) => signed("account 8", 5 + index)),
      replacing: range(120, (index) => signed("account 8", 1, 2 + index)),
    };
    await expect.poll(head).toBeGreaterThanOrEqual(4);
    let isOver = false;
    const types = new Map<string, number>();
    const flood = async (transactions: Transaction[]) => {
      for (let at = 0; !isOver; at = (at + 40) % transactions.length) {
        const { status, errors } = await submit(transactions.slice(at, at + 40));
        expect(status).toBe(200);
        for (const [{ type }] of Object.values(errors) as [{ type: string }][]) {
          types.set(type, (types.get(type) ?? 0) + 1);
        }
      }
    };
    const flooding = Promise.allSettled(
      Object.values(floods).flatMap((flooded) => [flood(flooded), flood(flooded)]),
    );
    const waits: number[] = [];
    for (let nonce = 1; nonce <= 2; nonce++) {
      const honest = signed("account 7", nonce);
      expect(await submit([honest])).toMatchObject({ status: 200, accepted: [honest.id] });
      const before = await head();
      const blockId = await until("the honest transaction is forged", async () => {
        const row = (await get(`/api/transactions/${honest.id}`)) as { blockId?: string };
        return row.blockId;
      });
      waits.push(((await get(`/api/blocks/${blockId}`)) as { height: number }).height - before);
    }
    isOver = true;
    for (const { status } of await flooding) expect(status).toBe("fulfilled");
    // The slot in progress when it was posted may be too early for it.
    expect(Math.max(...waits)).toBeLessThanOrEqual(2);
    expect([...types.keys()]).toEqual(expect.arrayContaining(["ERR_APPLY", "ERR_DUPLICATE"]));
    const { meta } = (await (await fetch(`${url}/api/transactions/unconfirmed`)).json()) as {
      meta: { totalCount: number };
    };
    expect(meta.totalCount).toBeLessThanOrEqual(1);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/uniknode_pool_refusals_total\{reason="ERR_APPLY"\} [1-9]/);
    expect(metrics).toContain("uniknode_pool_bytes ");
  } finally {
    // A killed node leaves the process that inspects its database, which still writes into the folder.
    node.child.kill("SIGTERM");
    await node.ended;
    rmSync(folder, { recursive: true });
  }
});
