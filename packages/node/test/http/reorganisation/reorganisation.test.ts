/**
 * A node that switched to its branch responds as one that was always on it, in every form of every list. The
 * first received all requests on each branch, with cached value indexes; the other has only the final state, and
 * sorts.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  blockToJson,
  createNetwork,
  createSlots,
  encodeBlock,
  transactionKey,
  transactionTypes,
} from "@uniknode/protocol";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { setupBlocks } from "../../../src/dev-chain/setup.ts";
import type { Server } from "../../../src/http/core/app.ts";
import { HttpServer } from "../../../src/http/server/server.ts";
import { present } from "../../../src/platform/present.ts";
import { SqliteReadModel, type SqliteReadModelOptions } from "../../../src/read/sqlite/read-model.ts";
import { ValueIndexBuilder } from "../../../src/read/sqlite/value-index-builder.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { cast, createForkingChain, dev } from "../../../test-support/chain/forking.ts";
import { describeRoutes, documentOf } from "../../../test-support/http/described.ts";
import { createGateway, identity } from "../../../test-support/http/fixture.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";
import { ENTITIES_HEIGHT, forgeDeeds } from "./deeds.ts";
import { ask, type Known, learn, questionsOf } from "./walk.ts";

/** Reward for a unik that becomes alive; the forger's share is the fee. */
const REWARD = { forger: 100_000_000, sender: 30_000_000, foundation: 7_000_000 };
const { transactionsConfig: _, ...description } = dev.files.network;
const [first, ...further] = dev.files.milestones;
const rules = {
  ...present(first, "the first milestone"),
  disableArkLegacyVote: false,
  voucherRewards: { individual: REWARD, organization: REWARD, network: REWARD },
};
const network = createNetwork({
  ...dev.files,
  network: description,
  milestones: [rules, ...further, { height: ENTITIES_HEIGHT, aip36: true }],
});
const slots = createSlots(network);
const forgers = [...cast.founders, ...cast.accounts, ...cast.delegates.map(({ account }) => account)];
const setup = setupBlocks(network, cast, dev.block.header, slots.unixMsOf(slots.slotTime(10))).map((block) =>
  encodeBlock(block, network),
);

function temporaryPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-reorganisation-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "node.sqlite");
}

/** A chain with its first blocks, and its API. Peers and pending transactions are not part of a branch. */
async function openNode(path: string, valueIndexes?: SqliteReadModelOptions["valueIndexes"]) {
  const fork = createForkingChain(path, { network, forgers });
  for (const bytes of setup) await fork.take(bytes);
  const database = openDatabase(path, { readonly: true });
  const server = new HttpServer(
    { host: "127.0.0.1", port: 0, responseTimeoutMs: WAIT_MS },
    {
      readModel: new SqliteReadModel(
        { readTimeoutMs: WAIT_MS, ...(valueIndexes && { valueIndexes }) },
        { database, network },
      ),
      network,
      identity: { ...identity, genesisBlock: blockToJson(dev.block) },
      gateway: createGateway(),
      plugins: [],
      nowMs: () => slots.unixMsOf(slots.slotTime(1_000)),
      logger: pino({ level: "silent" }),
    },
  );
  onTestFinished(async () => {
    await server.close();
    database.close();
  });
  describeRoutes(server.app);
  await server.app.ready();
  return { ...fork, app: server.app };
}

/** Keys of the types of which the chain has no transaction. */
async function typesWithout(app: Server): Promise<string[]> {
  const { data } = (await app.inject("/api/transactions")).json() as {
    data: { typeGroup: number; type: number }[];
  };
  const present = new Set(data.map(({ typeGroup, type }) => transactionKey(typeGroup, type)));
  return transactionTypes.map(({ key }) => key).filter((key) => !present.has(key));
}

test("Every response equals that of a node that was always on the branch.", async () => {
  const path = temporaryPath();
  const builder = new ValueIndexBuilder(path, (error) => {
    throw error;
  });
  onTestFinished(() => builder.close());
  const lived = await openNode(path, {
    build: (definition, maxBytes) => builder.build(definition, maxBytes),
    minIndexedRows: 0,
    maxShare: 1,
  });
  const { height } = lived.chain.head();
  const known: Known = new Map();
  const document = await documentOf(lived.app);
  const askEverything = async () => {
    await nextTurn();
    await learn(lived.app, known);
    for (const question of questionsOf(document, known)) await ask(lived.app, question);
  };

  const last = await forgeDeeds(lived, network, 2);
  await askEverything();
  await lived.chain.revertTo(height);
  await askEverything();
  const other = await forgeDeeds(lived, network, 1);
  await askEverything();
  // Responses are cached from the second request on, except those to POST.
  for (const question of questionsOf(document, known))
    if (question.method === "get") await ask(lived.app, question);
  // One block longer, which is reverted again: both branches are queried at one height.
  expect(last.length).toBe(other.length + 1);
  await lived.chain.switchTo(height, last);
  await lived.chain.revertTo(height + other.length);

  const fresh = await openNode(temporaryPath());
  for (const bytes of last.slice(0, -1)) await fresh.take(bytes);
  expect(lived.chain.head()).toEqual(fresh.chain.head());
  await nextTurn();
  await learn(fresh.app, known);
  expect(await typesWithout(fresh.app)).toEqual([]);

  const questions = questionsOf(document, known);
  let found = 0;
  for (const question of questions) {
    const [expected, responses] = [await ask(fresh.app, question), await ask(lived.app, question)];
    expect(responses, `${question.method} ${question.url} ${JSON.stringify(question.payload)}`).toEqual(
      expected,
    );
    if (expected[0]?.startsWith("200")) found++;
  }
  // The rest is about removed objects.
  expect(found).toBeGreaterThan(questions.length / 2);
});
