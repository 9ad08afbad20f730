/** A witness of real nodes: what it signs, what it refuses, and what a client counts. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { createVerifyingClient, readNote, signersOf } from "@uniknode/client/proofs";
import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { resolveConfig } from "../../src/config/resolve.ts";
import { witnessOptions } from "../../src/config/witness.ts";
import type { Node } from "../../src/processes/node/node.ts";
import { openWitness, startWitness } from "../../src/processes/witness.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { OTHER_VOTES } from "../../test-support/chain/fixtures.ts";
import { network } from "../../test-support/chain/forking.ts";
import { makeFolder, serveFolder, treeOf } from "../../test-support/facts/served.ts";
import { runUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const folders: string[] = [];
/** A node, one that is some blocks behind, and one with other votes. */
let nodes: { readonly long: Node; readonly short: Node; readonly other: Node };
let folder: string;

function newFolder(): string {
  const created = mkdtempSync(join(tmpdir(), "uniknode-witness-"));
  folders.push(created);
  return created;
}

async function serve(data: string): Promise<Node> {
  const node = await serveFolder(data);
  const { height } = node.head();
  await treeOf(node.url, height - 2 * network.milestoneAt(height).activeDelegates);
  return node;
}

beforeAll(async () => {
  const [long, short, other] = [await makeFolder(34), await makeFolder(30), newFolder()];
  folders.push(long, short);
  cpSync(long, other, { recursive: true });
  const database = openDatabase(join(other, "node.sqlite"));
  database.execute(`${OTHER_VOTES}; DELETE FROM fact_tiles; DELETE FROM fact_sizes`);
  database.close();
  nodes = { long: await serve(long), short: await serve(short), other: await serve(other) };
});
afterAll(async () => {
  close();
  for (const node of Object.values(nodes)) await node.stop();
  for (const created of folders) rmSync(created, { recursive: true, force: true });
});

let close = () => {};

/** Opens a witness over a folder, by default a new one, and closes the last one. */
function open(urls: readonly string[], data = newFolder(), flags: Record<string, unknown> = {}) {
  folder = data;
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const config = resolveConfig(witnessOptions, { flags: { data, ...flags }, environment: {} });
  close();
  const opened = openWitness(urls, config, logger);
  close = opened.lock.release;
  const { witness, verifierKey } = opened;
  const round = () => witness.round(new AbortController().signal);
  return { witness, verifierKey, round, lines };
}

const checkpointOf = async ({ url }: Node) =>
  (await createClient({ url, timeoutMs: WAIT_MS }).facts.checkpoint()).data;

test("A witness signs the largest tree that enough nodes contain, once, and keeps it after a restart.", async () => {
  const [long, short] = [await checkpointOf(nodes.long), await checkpointOf(nodes.short)];
  expect(long.size).toBeGreaterThan(short.size);
  const both = [nodes.short.url, nodes.long.url];
  const two = open(both);
  await two.round();
  expect(two.witness.signed()).toMatchObject({ size: short.size, root: short.root });
  const { witness, verifierKey, round, lines } = open(both, newFolder(), { minNodes: 1 });
  expect(await round()).toMatchObject({
    agreed: [nodes.short.url, nodes.long.url],
    differing: [],
    failed: [],
  });
  const signed = witness.signed();
  expect(signed).toMatchObject({ size: long.size, root: long.root, height: long.height });
  const note = readNote(signed?.note ?? "");
  expect(signersOf(note, [verifierKey, long.verifierKey, short.verifierKey])).toEqual([
    verifierKey,
    long.verifierKey,
  ]);
  // The time is signed, too.
  const altered = (signed?.note ?? "").replace(/(?<=\u2014 uniknode-witness\S+ .{9})./, (digit) =>
    digit === "A" ? "B" : "A",
  );
  expect(altered).not.toBe(signed?.note);
  expect(signersOf(readNote(altered), [verifierKey])).toEqual([]);
  await round();
  expect(witness.signed()).toEqual(signed);
  expect(lines.map(({ msg }) => msg)).toEqual(["checkpoint signed"]);
  expect(open([nodes.long.url], folder).witness.signed()).toEqual(signed);
});

test("Nothing is signed while two trees differ, or one differs from the signed tree.", async () => {
  const { witness, round, lines } = open([nodes.long.url, nodes.other.url]);
  const judgement = await round();
  expect(judgement.checkpoint).toBeUndefined();
  expect([...judgement.differing].sort()).toEqual([nodes.long.url, nodes.other.url].sort());
  await round();
  expect(witness.signed()).toBeUndefined();
  expect(lines.map(({ level }) => level)).toEqual([50]);

  const first = open([nodes.short.url]);
  await first.round();
  const later = open([nodes.other.url], folder);
  expect(await later.round()).toMatchObject({ differing: [nodes.other.url], agreed: [] });
  expect(later.witness.signed()).toMatchObject(first.witness.signed() ?? {});
  const next = open([nodes.long.url], folder);
  await next.round();
  expect(next.witness.signed()?.size).toBe((await checkpointOf(nodes.long)).size);
  // A node behind the signed tree cannot prove that it agrees; another node can.
  expect(await open([nodes.short.url], folder).round()).toMatchObject({
    failed: [{ url: nodes.short.url }],
    differing: [],
  });
  expect(await open([nodes.short.url, nodes.long.url], folder).round()).toMatchObject({ failed: [] });
});

test("Too few nodes, a node that does not respond, and a node with another key are not signed.", async () => {
  const down = "http://127.0.0.1:1";
  const few = open([nodes.long.url, down]);
  expect(await few.round()).toMatchObject({ agreed: [nodes.long.url], failed: [{ url: down }] });
  expect(few.witness.signed()).toBeUndefined();
  const enough = open([nodes.long.url, down], folder, { minNodes: 1 });
  await enough.round();
  expect(enough.witness.signed()).toBeDefined();

  const path = join(folder, "witness.json");
  const state = JSON.parse(readFileSync(path, "utf8"));
  state.keys[nodes.long.url] = (await checkpointOf(nodes.short)).verifierKey;
  writeFileSync(path, JSON.stringify(state));
  const { failed } = await open([nodes.long.url], folder).round();
  expect(failed[0]?.error.message).toContain("signs with another key than before");
  writeFileSync(path, "{");
  expect(() => open([nodes.long.url], folder)).toThrow(/: start anew with another --data/);
});

test("A folder belongs to one witness.", () => {
  const { witness } = open([nodes.long.url]);
  const config = resolveConfig(witnessOptions, { flags: { data: folder }, environment: {} });
  expect(() => openWitness([nodes.long.url], config, pino({ level: "silent" }))).toThrow(
    expect.objectContaining({ code: "DATA_IN_USE" }),
  );
  expect(witness.signed()).toBeUndefined();
});

test("A signature that cannot be stored is not shown.", async () => {
  const data = newFolder();
  mkdirSync(join(data, "witness.json.part"));
  const { witness, round } = open([nodes.long.url], data);
  await expect(round()).rejects.toThrow("EISDIR");
  expect(witness.signed()).toBeUndefined();
});

test("A client counts the keys of nodes and witnesses, and ignores witnesses that do not respond.", async () => {
  const config = resolveConfig(witnessOptions, {
    flags: { data: newFolder(), operationsPort: 0, name: "witness.example" },
    environment: {},
  });
  const served = await startWitness([nodes.long.url], config, pino({ level: "silent" }));
  onTestFinished(() => served.stop());
  const ready = () => fetch(`${served.url}/health/ready`).then(({ status }) => status);
  await expect.poll(ready).toBe(200);
  const status = (await (await fetch(`${served.url}/health/status`)).json()) as { verifierKey: string };
  expect(status.verifierKey).toMatch(/^witness\.example\+/);
  expect(await (await fetch(`${served.url}/metrics`)).text()).toContain("uniknode_witness_nodes_agreed 1");

  const client = createVerifyingClient({ url: nodes.long.url });
  const keys = [(await checkpointOf(nodes.long)).verifierKey, status.verifierKey];
  const [unik, witnesses] = ["ab".repeat(32), [served.url, nodes.short.url, "http://127.0.0.1:1"]];
  const resolve = (minSigners: number, more: readonly string[] = []) =>
    client.resolve(unik, [...keys, ...more], { minSigners, witnesses });
  expect(await resolve(2)).toMatchObject({ verdict: "proven", signers: keys });
  expect(await resolve(3)).toMatchObject({ verdict: "refused", step: "SIGNATURE" });
  // The round of the map is in the tree of the node that is behind, too, or its key does not count.
  const short = await checkpointOf(nodes.short);
  const { map } = (await client.uniks.resolution(unik)).data;
  const counted = map.height <= short.height ? 3 : 2;
  expect(await resolve(counted, [short.verifierKey])).toMatchObject({ verdict: "proven" });
  // Another network of nodes: the same root does not exist there.
  const other = await checkpointOf(nodes.other);
  const verdict = await client.resolve(unik, [other.verifierKey], { witnesses: [nodes.other.url] });
  expect(verdict).toMatchObject({ verdict: "refused", step: "SIGNATURE" });
});

test("A client counts a key once, whatever names it signs with.", async () => {
  const [data, copy] = [newFolder(), newFolder()];
  const verifierKeys: string[] = [];
  const witnesses: string[] = [];
  for (const [folder, name] of [
    [data, "one.example"],
    [copy, "other.example"],
  ] as const) {
    const flags = { data: folder, operationsPort: 0, name };
    const config = resolveConfig(witnessOptions, { flags, environment: {} });
    const served = await startWitness([nodes.long.url], config, pino({ level: "silent" }));
    onTestFinished(() => served.stop());
    const get = (path: string) => fetch(`${served.url}${path}`);
    await expect.poll(async () => (await get("/health/ready")).status).toBe(200);
    const { verifierKey } = (await (await get("/health/status")).json()) as { verifierKey: string };
    verifierKeys.push(verifierKey);
    witnesses.push(served.url);
    if (folder === data) cpSync(join(data, "checkpoint.key"), join(copy, "checkpoint.key"));
  }
  const client = createVerifyingClient({ url: nodes.long.url });
  const resolve = (minSigners: number) =>
    client.resolve("ab".repeat(32), verifierKeys, { minSigners, witnesses });
  expect(await resolve(1)).toMatchObject({ verdict: "proven", signers: verifierKeys });
  expect(await resolve(2)).toMatchObject({ verdict: "refused", step: "SIGNATURE" });
});

test("The command prints a signed note with --once, and fails if the nodes differ.", async () => {
  const run = (...urls: string[]) =>
    runUniknode(["witness", "--once", "--data", newFolder(), "--log-level", "silent", ...urls]);
  const signed = await run(nodes.long.url, nodes.short.url);
  expect([signed.code, signed.stdout.split("\n").filter((line) => line.startsWith("\u2014")).length]).toEqual(
    [0, 2],
  );
  const differing = await run(nodes.long.url, nodes.other.url);
  expect([differing.code, differing.stdout]).toEqual([1, ""]);
  expect(differing.stderr).toContain("the trees of facts differ");
  expect(await run("ftp://127.0.0.1")).toMatchObject({ code: 2 });
});
