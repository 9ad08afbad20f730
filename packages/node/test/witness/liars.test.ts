/** A witness, some of whose nodes lie. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNote, signersOf } from "@uniknode/client/proofs";
import { fastify } from "fastify";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createWitnessRoutes } from "../../src/processes/witness.ts";
import { Cosigner } from "../../src/witness/cosigner.ts";
import { Witness } from "../../src/witness/witness.ts";
import { type ClaimedNode, type ClaimOptions, claimTree } from "../../test-support/facts/claimed-node.ts";

const FACTS = Array.from({ length: 24 }, (_, index) => `${index + 1}|0|block.applied|${"0".repeat(64)}`);
const FALSE = "8|0|uniks.root|false";
const factsTo = (size: number) => FACTS.slice(0, size);
const liesAfter = (size: number) => [...factsTo(size), FALSE];

async function node(leaves: readonly string[], options: ClaimOptions = {}): Promise<ClaimedNode> {
  const claimed = await claimTree(leaves, options);
  onTestFinished(claimed.close);
  return claimed;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-liars-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A witness with a new key, unless one is given. */
function open(
  nodes: readonly Pick<ClaimedNode, "url">[],
  minNodes: number,
  { folder = newFolder(), key = generateKeyPairSync("ed25519").privateKey } = {},
) {
  const cosigner = new Cosigner(key);
  const errors: Record<string, unknown>[] = [];
  const logger = pino(
    {},
    {
      write(line: string) {
        const entry = JSON.parse(line);
        if (entry.level >= 50) errors.push(entry);
      },
    },
  );
  const path = join(folder, "witness.json");
  const witness = new Witness(
    { urls: nodes.map(({ url }) => url), minNodes, path },
    { cosigner, nowMs: Date.now, logger },
  );
  const round = () => witness.round(new AbortController().signal);
  const signed = () => witness.signed();
  return { signed, round, errors, path, folder, key, verifierKey: cosigner.verifierKey };
}

test("A leaf that one liar appends is not signed: two addresses of one honest node are one node.", async () => {
  const [honest, liar] = [await node(factsTo(7)), await node(liesAfter(7))];
  const urls = [honest, { url: `${honest.url}/` }, liar];
  const { round, signed } = open(urls, 2);
  expect(await round()).toMatchObject({ agreed: urls.map(({ url }) => url), differing: [], failed: [] });
  expect(signed()).toMatchObject({ size: 7, height: 7 });
  const all = open(urls, 3);
  await all.round();
  expect(all.signed()).toBeUndefined();
});

test("The largest tree that enough nodes contain is signed, and none of the larger ones.", async () => {
  const nodes = [await node(factsTo(9)), await node(factsTo(12)), await node(factsTo(14))];
  const liar = await node(liesAfter(14));
  for (const [minNodes, size] of [
    [1, 15],
    [2, 14],
    [3, 12],
    [4, 9],
  ] as const) {
    const { round, signed } = open([...nodes, liar], minNodes);
    await round();
    expect([minNodes, signed()?.size]).toEqual([minNodes, size]);
  }
});

test("A liar whose tree differs is named, and does not stop the witness.", async () => {
  const honest = [await node(factsTo(7)), await node(factsTo(7))];
  const liar = await node(liesAfter(7));
  const { round, signed, errors } = open([liar, ...honest], 2);
  await round();
  for (const each of honest) each.claim(factsTo(11));
  expect(await round()).toMatchObject({ differing: [liar.url], agreed: honest.map(({ url }) => url) });
  expect(signed()?.size).toBe(11);
  liar.claim(liesAfter(20));
  await round();
  liar.claim([...FACTS.slice(0, 5), FALSE, ...FACTS]);
  await round();
  expect(signed()?.size).toBe(11);
  expect(errors.map(({ nodes }) => nodes)).toEqual([[liar.url], [liar.url]]);
});

test("Nothing is signed if enough nodes have each of two trees that differ.", async () => {
  const [one, other] = [await node(factsTo(7)), await node(liesAfter(6))];
  const { round, signed } = open([one, other], 1);
  expect(await round()).toMatchObject({ agreed: [], differing: [one.url, other.url] });
  expect(signed()).toBeUndefined();
});

test("A liar cannot make honest nodes differ by wrong proofs, another log, or another block of the same tree.", async () => {
  const honest = [await node(factsTo(7)), await node(factsTo(9))];
  const wrong = await node(factsTo(12), { isProofWrong: true });
  const foreign = await node(factsTo(14), { nethash: "ef".repeat(32) });
  const block = await node(factsTo(9), { blockId: "ef".repeat(32) });
  const { round, signed } = open([foreign, wrong, block, ...honest], 2);
  const { agreed, differing, failed } = await round();
  expect(agreed).toEqual(expect.arrayContaining(honest.map(({ url }) => url)));
  expect(differing).toEqual([wrong.url]);
  expect(failed).toMatchObject([{ url: foreign.url }]);
  // Both signed the tree of 9 leaves for different blocks; the smaller tree is in both.
  expect(signed()?.size).toBe(7);
  honest[0]?.claim(factsTo(9));
  expect(await round()).toMatchObject({ differing: [wrong.url, block.url] });
  expect(signed()).toMatchObject({ size: 9, note: expect.stringContaining("block 9 cd") });
});

test("A witness that signed a false tree shows it no longer, keeps the evidence, and never signs the other one.", async () => {
  const [liar, honest] = [await node(liesAfter(7)), [await node(factsTo(12)), await node(factsTo(13))]];
  const deceived = open([liar], 1);
  await deceived.round();
  expect(deceived.signed()?.size).toBe(8);
  const { path } = deceived;
  const later = open([liar, ...honest], 2, deceived);
  const app = fastify().register(createWitnessRoutes(later.signed, later.verifierKey));
  onTestFinished(() => app.close());
  const show = () => app.inject("/api/v2/facts/checkpoint");
  expect((await show()).statusCode).toBe(200);
  const urls = honest.map(({ url }) => url);
  expect(await later.round()).toMatchObject({ agreed: [], differing: [...urls, liar.url] });
  await later.round();
  expect(later.errors.filter((entry) => "signed" in entry)).toHaveLength(1);
  const evidence = await show();
  expect(evidence.statusCode).toBe(409);
  const { note, contradictedBy } = evidence.json() as {
    note: string;
    contradictedBy: { url: string; note: string }[];
  };
  expect(signersOf(readNote(note), [liar.verifierKey, later.verifierKey])).toHaveLength(2);
  expect(contradictedBy.map(({ url }) => url)).toEqual(urls);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ size: 8, note, contradictedBy });

  // A restart, or honest nodes that do not respond, do not bring the tree back.
  const restarted = open([liar, { url: "http://127.0.0.1:1" }], 2, deceived);
  await restarted.round();
  expect(restarted.signed()).toMatchObject({ size: 8, contradictedBy });
  // A new key starts anew.
  const anew = open([liar, ...honest], 2);
  await anew.round();
  expect(anew.signed()).toMatchObject({ size: 12 });
  expect(anew.verifierKey).not.toBe(later.verifierKey);
});

test("A contradiction ends when enough nodes contain the signed tree.", async () => {
  const nodes = [await node(factsTo(7)), await node(factsTo(7))];
  const { round, signed } = open(nodes, 2);
  await round();
  for (const each of nodes) each.claim(liesAfter(6).concat("9|0|x|y"));
  expect((await round()).contradiction).toHaveLength(2);
  expect(signed()).toMatchObject({ size: 7, contradictedBy: [{}, {}] });
  for (const each of nodes) each.claim(factsTo(10));
  await round();
  expect(signed()).toMatchObject({ size: 10 });
  expect(signed()).not.toHaveProperty("contradictedBy");
});
