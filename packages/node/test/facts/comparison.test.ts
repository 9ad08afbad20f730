/** Nodes that compare their trees, one of which was modified. */

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Event } from "../../src/events/catalogue.ts";
import { DATA_SCHEMAS } from "../../src/events/schemas.ts";
import { type Comparison, startComparison } from "../../src/facts/comparison.ts";
import { logName } from "../../src/facts/note.ts";
import type { FactReader } from "../../src/facts/reader.ts";
import { SqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { present } from "../../src/platform/present.ts";
import type { Node } from "../../src/processes/node/node.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { OTHER_VOTES } from "../../test-support/chain/fixtures.ts";
import { network } from "../../test-support/chain/forking.ts";
import { openWebhookReceiver } from "../../test-support/facts/receiver.ts";
import { makeFolder, serveFolder, treeOf } from "../../test-support/facts/served.ts";

const folders: string[] = [];
/** One more than the next. */
let chain: { readonly long: string; readonly short: string };
const NAME = logName(network.description.nethash);

beforeAll(async () => {
  const long = await makeFolder(34);
  const short = await makeFolder(30);
  folders.push(long, short);
  chain = { long, short };
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Copies a database and runs a statement on it. */
function copyOf(data: string, sql = ""): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-facts-"));
  folders.push(folder);
  cpSync(data, folder, { recursive: true });
  const database = openDatabase(join(folder, "node.sqlite"));
  database.execute(sql);
  database.close();
  return folder;
}

async function serve(data: string, compareWith: readonly string[] = [], logged?: string[]): Promise<Node> {
  const logger = pino(
    { level: logged ? "info" : "silent" },
    { write: (line: string) => void logged?.push(line) },
  );
  const node = await serveFolder(data, { compareWith }, { logger });
  onTestFinished(() => node.stop());
  const { height } = node.head();
  await treeOf(node.url, height - 2 * network.milestoneAt(height).activeDelegates);
  return node;
}

type ComparedFacts = Pick<FactReader, "checkpoint" | "rootAt">;

/** Compares the tree of a folder on request. */
function comparisonOf(data: string, urls: readonly string[], facts?: ComparedFacts) {
  const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
  const reported: Event[] = [];
  const logged: { level: number; msg: string; url?: string; err?: { message: string } }[] = [];
  const comparison: Comparison = startComparison(
    { urls, name: NAME, everyMs: 1e9 },
    {
      facts: facts ?? new SqliteFactReader(database, network),
      report: (...events) => void reported.push(...events),
      nowMs: () => 5,
      logger: pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    },
  );
  onTestFinished(() => {
    comparison.close();
    database.close();
  });
  return { comparison, reported, logged };
}

test("Nodes of one chain agree, regardless of the sizes of their trees.", async () => {
  const [long, short] = [await serve(chain.long), await serve(chain.short)];
  for (const data of [chain.long, chain.short]) {
    const { comparison, reported, logged } = comparisonOf(data, [long.url, `${short.url}/`]);
    await comparison.compare();
    expect(comparison.figures()).toEqual({ agreed: 2, differed: 0, failed: 0, differing: 0 });
    expect([reported, logged]).toEqual([[], []]);
  }
});

test("A modified node is detected by a shorter tree and by a longer one, and reported once.", async () => {
  for (const [own, other] of [
    [chain.long, copyOf(chain.short, `${OTHER_VOTES}; DELETE FROM fact_tiles; DELETE FROM fact_sizes`)],
    [chain.short, copyOf(chain.long, `${OTHER_VOTES}; DELETE FROM fact_tiles; DELETE FROM fact_sizes`)],
  ] as const) {
    const node = await serve(other);
    const { comparison, reported, logged } = comparisonOf(own, [node.url]);
    await comparison.compare();
    await comparison.compare();
    expect(comparison.figures()).toEqual({ agreed: 0, differed: 2, failed: 0, differing: 1 });
    expect(reported).toMatchObject([{ name: "state.diverged", data: { url: node.url } }]);
    const { root, otherRoot } = present(reported[0], "an item of reported").data as {
      root: string;
      otherRoot: string;
    };
    expect(root).not.toBe(otherRoot);
    const { properties } = DATA_SCHEMAS["state.diverged"] as { readonly properties?: object };
    expect(Object.keys(properties ?? {}).sort()).toEqual(
      Object.keys(present(reported[0], "an item of reported").data as object).sort(),
    );
    expect(logged).toMatchObject([{ level: 50, url: node.url }]);
    await node.stop();
    // A node that is down is still divergent.
    await comparison.compare();
    expect(comparison.figures()).toMatchObject({ failed: 1, differing: 1 });
  }
});

test("A node that agrees again is no longer divergent, and can be reported again.", async () => {
  const node = await serve(chain.short);
  let isWrong = true;
  const right = new SqliteFactReader(
    openDatabase(join(chain.short, "node.sqlite"), { readonly: true }),
    network,
  );
  const facts: ComparedFacts = {
    checkpoint: () => right.checkpoint(),
    rootAt: async (size) => (isWrong ? Buffer.alloc(32) : right.rootAt(size)),
  };
  const { comparison, reported, logged } = comparisonOf(chain.short, [node.url], facts);
  await comparison.compare();
  isWrong = false;
  await comparison.compare();
  expect(comparison.figures()).toEqual({ agreed: 1, differed: 1, failed: 0, differing: 0 });
  isWrong = true;
  await comparison.compare();
  expect(reported).toHaveLength(2);
  expect(logged.map(({ level }) => level)).toEqual([50, 30, 50]);
});

test.each<[what: string, content: object | string, message: RegExp]>([
  ["another network", checkpoint({ note: "uniknode-facts-v3/ab\n" }), /its log is uniknode-facts-v3\/ab/],
  ["invalid JSON", "<html>", /JSON/],
  ["no data", {}, /must have required property 'data'/],
  ["an invalid size", checkpoint({ size: -1 }), /\/data\/size must be >= 0/],
  ["no root", checkpoint({ root: "ab" }), /32 bytes/],
  ["too much", JSON.stringify({ data: "x".repeat(100_000) }), /longer than 65536 bytes/],
  ["a name of 60 KB", checkpoint({ note: `${"x".repeat(60_000)}\n1\n` }), /^.{50,500}$/],
  ["a name with controls", checkpoint({ note: "a\u202eb\u009bc\u2028d\n" }), /a\\u202eb\\u009bc\\u2028d/],
  ["an invalid proof", checkpoint({ size: 1e9 }), /must have required property 'proof'/],
])("The reply of a node with %s is ignored.", async (_what, content, message) => {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(typeof content === "string" ? content : JSON.stringify(content));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { comparison, reported, logged } = comparisonOf(chain.short, [url]);
  await comparison.compare();
  await comparison.compare();
  expect(comparison.figures()).toEqual({ agreed: 0, differed: 0, failed: 2, differing: 0 });
  expect(reported).toEqual([]);
  expect(logged).toMatchObject([{ level: 40, err: { message: expect.stringMatching(message) } }]);
});

function checkpoint(data: object): object {
  return {
    data: { size: 1, height: 1, verifierKey: "", root: "ab".repeat(32), note: `${NAME}\n1\n`, ...data },
  };
}

test("A running node reports divergence in its log, its metrics and its events.", async () => {
  const receiver = await openWebhookReceiver();
  onTestFinished(receiver.close);
  const other = await serve(
    copyOf(chain.short, `${OTHER_VOTES}; DELETE FROM fact_tiles; DELETE FROM fact_sizes`),
  );
  const folder = copyOf(chain.long);
  // Before any divergence.
  const before = await serve(folder);
  await receiver.register(before, "state.diverged");
  await before.stop();
  const logged: string[] = [];
  const node = await serve(folder, [other.url], logged);
  const { data } = await receiver.first;
  expect(data).toMatchObject({ url: other.url, size: expect.any(Number) });
  expect(logged.filter((line) => line.includes("different facts from the same final blocks"))).toHaveLength(
    1,
  );
  const metrics = await fetch(`${node.url}/metrics`, { headers: { authorization: node.webhookToken } });
  expect(await metrics.text()).toMatch(/^uniknode_facts_diverged 1$/m);
});
