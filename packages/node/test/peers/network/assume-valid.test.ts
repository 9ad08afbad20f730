/** Nodes that do not check signatures up to a block, beside one that serves a block that its delegate has not signed (decision 39). */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type EncodedBlock, encodeBlock, keysFromPassphrase } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Pin, pinText } from "../../../src/chain/assumption.ts";
import { present } from "../../../src/platform/present.ts";
import {
  keysOf,
  network,
  openTestChain,
  range,
  SHAPE,
  type TestChain,
} from "../../../test-support/peers/chains.ts";
import { addressOf, createWorld, type TestNode, type World } from "../../../test-support/peers/world.ts";
import { runUniknode } from "../../../test-support/process/uniknode.ts";

const POLL = { interval: 250 };
const LENGTH = 40;
const FORGED = 20;
const PIN_HEIGHT = 30;
const ANYWHERE: Pin = { height: 10_000, id: "ab".repeat(32) };
/** Keys that are not those of delegates. */
const SERVER = 4;
const thief = keysFromPassphrase("of no delegate").privateKey;

let world: World;
let blocks: EncodedBlock[];
let server: TestNode;

beforeAll(async () => {
  world = await createWorld(SHAPE);
  const data = join(world.folder, `node-${SERVER}`);
  mkdirSync(data);
  const chain = openTestChain(join(data, "node.sqlite"), { deps: { assumeValid: ANYWHERE } });
  expect(chain.header(1).id).toBe(world.genesis.id);
  blocks = await forge(chain);
  await chain.close();
  server = await world.start(SERVER, "--assume-valid", pinText(ANYWHERE), "--peers", addressOf(SERVER));
});
afterAll(() => world?.close());

/** A chain with one block that was signed with a key that is not the delegate's. */
async function forge(chain: TestChain): Promise<EncodedBlock[]> {
  const made: EncodedBlock[] = [];
  for (const slot of range(1, LENGTH - 1)) {
    const { generatorPublicKey } = chain.make(slot).header;
    const { publicKey, privateKey } = present(keysOf.get(generatorPublicKey));
    const isForged = chain.chain.head().height + 1 === FORGED;
    const keys = { publicKey, privateKey: isForged ? thief : privateKey } as NonNullable<
      Parameters<TestChain["make"]>[1]
    >["keys"];
    const block = chain.make(slot, { keys: present(keys) });
    const [outcome] = await chain.chain.acceptFetched([encodeBlock(block, network)]);
    expect(outcome).toEqual({ kind: "Accepted" });
    made.push(block);
  }
  return made;
}

const pinned = (): Pin => ({ height: PIN_HEIGHT, id: present(blocks[PIN_HEIGHT - 2]).header.id });
const joined = (index: number, ...options: string[]) =>
  world.start(index, "--peers", addressOf(SERVER), ...options);

type Status = { now: number; assumeValid?: Pin & { uncheckedFrom?: number } };

test("A node reports unchecked blocks.", async () => {
  expect(await server.get<Status>("/node/status")).toMatchObject({
    now: LENGTH,
    assumeValid: { ...ANYWHERE, uncheckedFrom: 2 },
  });
  const { stdout } = await runUniknode(["status", "--url", server.url]);
  expect(stdout).toMatch(/unchecked +signatures from block 2 on, up to block 10000/);
});

test("A node accepts a chain with a wrong signature below the pinned block.", async () => {
  const node = await joined(5, "--assume-valid", pinText(pinned()));
  await expect.poll(node.height, POLL).toBe(LENGTH);
  expect(await node.get<Status>("/node/status")).not.toHaveProperty("assumeValid");
  await expect
    .poll(node.process.stderr)
    .toContain("not checking signatures of fetched blocks up to the block of");
  await expect.poll(node.process.stderr).toContain("reached the block of --assume-valid");
  await node.stop();
});

test("A node with another pin discards the chain, and then refuses it.", async () => {
  const wrong: Pin = { ...pinned(), id: ANYWHERE.id };
  const data = join(world.folder, "node-6");
  mkdirSync(data);
  const before = openTestChain(join(data, "node.sqlite"), { deps: { assumeValid: wrong } });
  await before.chain.acceptFetched(blocks.slice(0, FORGED + 3).map((block) => encodeBlock(block, network)));
  expect(before.chain.head().height).toBe(FORGED + 4);
  await before.close();
  const node = await joined(6, "--assume-valid", pinText(wrong));
  const log = () => node.process.stderr();
  await expect.poll(log, POLL).toContain("discarding unchecked blocks");
  await expect.poll(log, POLL).toContain("it sent an invalid block");
  expect(await node.height()).toBeLessThan(FORGED);
  await node.stop();
  const again = await joined(6, "--assume-valid", pinText(wrong));
  await expect.poll(() => again.process.stderr(), POLL).toContain("checking all signatures");
  expect(await again.height()).toBeLessThan(FORGED);
  await again.stop();
});

test("A node with unchecked blocks does not start without the option, and names the next step.", async () => {
  await server.stop("SIGKILL");
  const folders = ["--network-dir", world.networkDir, "--data", join(world.folder, `node-${SERVER}`)];
  const refused = await runUniknode(["run", "--alone", "--http-port", "0", ...folders]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`start with --assume-valid ${pinText(ANYWHERE)}`);
  expect(refused.stderr).not.toContain("bug in uniknode");
  server = await world.start(SERVER, "--assume-valid", pinText(ANYWHERE), "--peers", addressOf(SERVER));
  expect(await server.height()).toBe(LENGTH);
});
