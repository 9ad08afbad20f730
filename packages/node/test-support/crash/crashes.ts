/**
 * Kills the real process at seeded random moments while it forges submissions and delivers to a receiver, and
 * checks after each kill that nothing is lost.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { type Client, connect, transferOf } from "../process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../process/uniknode.ts";
import { type Findings, inspectData } from "./inspect.ts";
import { createRandom } from "./random.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

export type CrashOptions = {
  readonly kills: number;
  readonly seed: number;
  /** Reports progress. */
  readonly log: (line: string) => void;
};

export type CrashReport = { readonly blocks: number; readonly facts: number; readonly deliveries: number };

const MNEMONIC = "test test test test test test test test test test test junk";
const TOKEN = "crash-test";
/** Shortest and longest time between start and kill. */
const MIN_LIFE_MS = 100;
const MAX_LIFE_MS = 2_500;
/** Longest wait for the last deliveries. */
const SETTLE_MS = 30_000;

/** @throws {AssertionError} naming what was lost, with the number of the kill */
export async function runCrashes({ kills, seed, log }: CrashOptions): Promise<CrashReport> {
  const random = createRandom(seed);
  const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
  const [alice, bob] = [people("account 0"), people("account 1")];
  const folder = mkdtempSync(join(tmpdir(), "uniknode-crash-"));
  const receiver = await startReceiver();
  const accepted = new Set<string>();
  let registeredHeight = 0;
  let findings: Findings | undefined;

  /** Runs the process once: starts it, submits transactions, and kills it at a random moment. */
  async function live(lifeMs: number): Promise<void> {
    const node = start(folder);
    try {
      const url = await apiUrlOf(node);
      if (registeredHeight === 0) registeredHeight = await register(url, receiver);
      const isOver = sleep(lifeMs).then(() => true);
      const client = await connect(url);
      // The first account has minted its unik in the first blocks.
      let nonce = findings?.nextNonce ?? 2n;
      while (!(await Promise.race([isOver, submit(client, nonce++)])));
    } finally {
      node.child.kill("SIGKILL");
      await node.ended;
    }
    const shownHeight = Number([...node.stdout().matchAll(/^block (\d+) /gm)].at(-1)?.[1] ?? 0);
    findings = inspectData(folder, alice.publicKey, { shownHeight, accepted, registeredHeight });
  }

  /** Never true: only the timer ends the run. */
  async function submit({ network, submit }: Client, nonce: bigint): Promise<false> {
    const { accepted: ids } = await submit([transferOf(network, alice, bob.address, nonce)]);
    for (const id of ids) accepted.add(id);
    // About as fast as a block can include them.
    await sleep(5);
    return false;
  }

  try {
    for (let kill = 1; kill <= kills; kill++) {
      const lifeMs = MIN_LIFE_MS + random() * (MAX_LIFE_MS - MIN_LIFE_MS);
      try {
        await live(lifeMs);
      } catch (error) {
        throw new Error(`seed ${seed}, kill ${kill}: ${(error as Error).message}`, { cause: error });
      }
      log(
        `kill ${kill} of ${kills} after ${Math.round(lifeMs)} ms: height ${present(findings).height}, nothing lost`,
      );
    }
    const facts = await lastLife(folder, alice.publicKey, receiver, { accepted, registeredHeight });
    return { blocks: findings?.height ?? 0, facts, deliveries: receiver.requests() };
  } finally {
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const start = (folder: string): Running =>
  spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN]);

/** Registers for blocks and transactions; returns a height whose facts are no longer delivered. */
async function register(url: string, receiver: Receiver): Promise<number> {
  for (const event of ["block.applied", "transaction.applied"]) {
    const conditions = [{ key: "id", condition: "ne", value: "" }];
    const response = await fetch(`${url}/api/webhooks`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: TOKEN },
      body: JSON.stringify({ event, target: receiver.url, conditions }),
    });
    assert.equal(response.status, 201);
  }
  const { data } = (await (await fetch(`${url}/api/v2/blockchain`)).json()) as {
    data: { block: { height: number } };
  };
  return data.block.height;
}

/** Waits for all deliveries, stops the node cleanly, and compares events with deliveries. */
async function lastLife(
  folder: string,
  sender: string,
  receiver: Receiver,
  expected: { accepted: ReadonlySet<string>; registeredHeight: number },
): Promise<number> {
  const node = start(folder);
  await node.printed(/^block \d+ /m);
  node.child.kill("SIGINT");
  assert.equal((await node.ended).code, 0, "an interrupt ends the process cleanly");
  const { facts } = inspectData(folder, sender, { ...expected, shownHeight: 0 });
  const again = start(folder);
  await again.printed(/Ctrl-C stops/);
  const deadline = Date.now() + SETTLE_MS;
  const missing = () => facts.filter((fact) => !receiver.arrived.has(fact));
  while (missing().length > 0 && Date.now() < deadline) await sleep(50);
  again.child.kill("SIGINT");
  await again.ended;
  assert.deepEqual(missing(), [], "every fact was delivered");
  for (const [fact, ids] of receiver.arrived) {
    assert.equal(ids.size, 1, `one delivery id for ${fact}, got ${[...ids].join()}`);
  }
  return facts.length;
}
