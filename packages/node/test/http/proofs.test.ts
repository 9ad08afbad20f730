/** Proofs of a dev chain over many rounds, verified with nothing but a checkpoint. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import {
  checkpointText,
  createCheckpoint,
  type Proof,
  parseCheckpoint,
  verifyProof,
} from "@uniknode/client/proofs";
import { blockFromTrustedBytes, createRounds, createSlots } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { cast, createForkingChain, network } from "../../test-support/chain/forking.ts";
import { chain } from "../../test-support/http/chain.ts";
import { type Fixture, openFixture } from "../../test-support/http/fixture.ts";
import { checkpointAt as checkpointOfRound } from "../../test-support/proofs/checkpoint.ts";

const ROUNDS = 12;
const { roundAt } = createRounds(network);
const slots = createSlots(network);
const { maxDelegates: SIZE } = roundAt(1);
const folder = mkdtempSync(join(tmpdir(), "uniknode-proofs-"));
let fixture: Fixture;
let other: Fixture;
/** Blocks by height, from 2 on. */
const blocks: { id: string; height: number; timestamp: number; generatorPublicKey: string; ids: string[] }[] =
  [];

beforeAll(async () => {
  const path = join(folder, "chain.sqlite");
  const forking = createForkingChain(path, { network, forgers: cast.founders, isWithinTest: false });
  for (let height = 2; height <= ROUNDS * SIZE; height++) {
    const sends = height > 2 && height % 2 === 0 ? [forking.transfer(height % 8, 1n + BigInt(height))] : [];
    const bytes = await forking.forge(sends, height % 7 === 0 ? 1 : 0);
    const { header, transactions } = blockFromTrustedBytes(bytes, network);
    const { id, timestamp, generatorPublicKey } = header;
    blocks.push({ id, height, timestamp, generatorPublicKey, ids: transactions.map(({ data }) => data.id) });
  }
  await forking.close();
  const database = openDatabase(path, { readonly: true });
  fixture = openFixture({}, { database, network });
  other = openFixture();
});
afterAll(async () => {
  await Promise.all([fixture.close(), other.close()]);
  rmSync(folder, { recursive: true });
});

const blockAt = (height: number) => present(blocks[height - 2], `block ${height}`);

const checkpointAt = (height: number) => checkpointOfRound(height, blockAt);

const head = ROUNDS * SIZE;
const nowMs = () => slots.unixMsOf(blockAt(head).timestamp);
const get = async (path: string): Promise<Proof> => (await fixture.get(`/api/v2${path}`)).json().data;

test("Every block and transaction is final with every checkpoint, as soon as enough delegates signed above it.", async () => {
  const verdicts = new Map<string, number>();
  for (let end = 3 * SIZE; end < head; end += 3 * SIZE) {
    const checkpoint = checkpointAt(end);
    for (let height = 3; height <= head; height += 2) {
      const { ids, id } = blockAt(height);
      const proof = await get(`/blocks/${height}/proof?checkpoint=${end}`);
      const verdict = verifyProof(proof, checkpoint, { nowMs: nowMs(), id });
      const isNear = height > head - 2 * SIZE;
      if (!isNear)
        expect(verdict, `${height} from ${end}`).toMatchObject({ verdict: "final", block: { ids } });
      verdicts.set(verdict.verdict, (verdicts.get(verdict.verdict) ?? 0) + 1);
    }
  }
  expect([...verdicts.keys()].sort()).toEqual(["final", "included"]);
});

test("A transaction has the bytes that were signed, and its block.", async () => {
  const { ids, height, id: block } = present(blocks.find(({ ids, height }) => ids.length > 0 && height > 20));
  const [id] = ids;
  const proof = await get(`/transactions/${id}/proof?checkpoint=${3 * SIZE}`);
  const verdict = verifyProof(proof, checkpointAt(3 * SIZE), {
    nowMs: nowMs(),
    ...(id !== undefined && { id }),
  });
  expect(verdict).toMatchObject({ verdict: "final", transaction: { id }, block: { id: block, height, ids } });
});

test("A proof without a checkpoint ends when two thirds of the delegates have signed.", async () => {
  const proof = await get(`/blocks/${3 * SIZE}/proof`);
  expect(proof.advances).toEqual([]);
  expect(verifyProof(proof, checkpointAt(4 * SIZE), { nowMs: nowMs() })).toMatchObject({ verdict: "final" });
});

const clientOf = (fixture: Fixture) =>
  createClient({
    url: "http://127.0.0.1",
    fetch: async (request, { body } = {}) => {
      const path = `${request}`.replace("http://127.0.0.1", "");
      const sent = body && JSON.parse(`${body}`);
      const { payload, statusCode } = await (sent ? fixture.post(path, sent) : fixture.get(path));
      return new Response(payload, { status: statusCode });
    },
  });

test("A checkpoint is created from the responses of a node that is trusted.", async () => {
  const checkpoint = await createCheckpoint(clientOf(fixture));
  expect(checkpoint).toEqual(checkpointAt(checkpoint.height));
  expect(checkpoint.height).toBeGreaterThan(head - 6 * SIZE);
  // Of the final rounds near the head, one in which the most delegates signed.
  const last = [2, 3, 4].map((rounds) => checkpointAt(head - rounds * SIZE).keys.length);
  expect(checkpoint.keys.length).toBeGreaterThanOrEqual(Math.max(...last));
  expect(parseCheckpoint(checkpointText(checkpoint))).toEqual(checkpoint);
});

test("A chain that has no final round yet has no checkpoint.", async () => {
  await expect(createCheckpoint(clientOf(other))).rejects.toMatchObject({
    code: "CHECKPOINT_UNAVAILABLE",
    isRetryable: true,
    message: expect.stringMatching(/^the chain has no final round .*: wait until/),
  });
});

test("Ids without a transaction or block are 404, and blocks without full ids 409.", async () => {
  const missing = "0".repeat(64);
  for (const [path, status, code] of [
    [`/transactions/${missing}/proof`, 404, "TRANSACTION_UNKNOWN"],
    [`/blocks/${missing}/proof`, 404, "BLOCK_UNKNOWN"],
    ["/blocks/1/proof", 409, "PROOF_UNAVAILABLE"],
    ["/blocks/2/proof", 409, "PROOF_UNAVAILABLE"],
    ["/blocks/3/proof?checkpoint=0", 422, "INVALID_MEMBER"],
    ["/blocks/3/proof?checkpoint=99999", 200, undefined],
  ] as const) {
    const response = await other.get(`/api/v2${path}`);
    expect([response.statusCode, response.headers["error-code"]], path).toEqual([status, code]);
  }
  expect(chain.network.milestoneAt(1).block.idFullSha256).not.toBe(true);
});
