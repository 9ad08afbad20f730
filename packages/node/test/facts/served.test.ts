/** Fact tree of a running node, as its clients see it. */

import { createPublicKey, verify } from "node:crypto";
import { createClient } from "@uniknode/client";
import { createVerifyingClient } from "@uniknode/client/proofs";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isConsistent, isIncluded, leafHash, rootOf } from "../../src/facts/merkle/proofs.ts";
import { nodesOfTiles, tilePath } from "../../src/facts/merkle/tiles.ts";
import { present } from "../../src/platform/present.ts";
import { type ServedChain, servedChain } from "../../test-support/facts/served.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

let node: ServedChain;
beforeAll(async () => {
  node = await servedChain();
});
afterAll(() => node.stop());

const client = () => createClient({ url: node.url, timeoutMs: WAIT_MS });
const bytesOf = (hex: string) => Buffer.from(hex, "hex");
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${node.url}/api/v2/facts/${path}`, { headers });

test("The checkpoint is of the last final block, and equals the note that its key signed.", async () => {
  const { data } = await client().facts.checkpoint();
  expect(data.height).toBe(node.head - node.depth);
  expect(data).toMatchObject(
    (await client().blocks.get(data.height)).data.id === data.id ? {} : { id: null },
  );
  const [text, signature] = data.note.split(/(?<=\n)\n/) as [string, string];
  const root = bytesOf(data.root).toString("base64");
  const name = `uniknode-facts-v3/${node.nethash}`;
  expect(text).toBe(`${name}\n${data.size}\n${root}\nblock ${data.height} ${data.id}\n`);
  const [, keyName, signed] = present(/^\u2014 (\S+) (\S+)\n$/.exec(signature), "the match");
  const [, keyHash, key] = present(/^.+\+([0-9a-f]{8})\+(.+)$/.exec(data.verifierKey), "the match");
  expect(keyName).toBe(name);
  const bytes = Buffer.from(present(signed, "signed"), "base64");
  expect(bytes.subarray(0, 4).toString("hex")).toBe(keyHash);
  const x = Buffer.from(present(key, "key"), "base64").subarray(1).toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  expect(verify(null, Buffer.from(text), publicKey, bytes.subarray(4))).toBe(true);
  for (const accept of ["text/plain", "*/*", undefined]) {
    // Unlike fetch, it sends no header by itself.
    const plain = await request(`${node.url}/api/facts/checkpoint`, { headers: accept ? { accept } : {} });
    expect([plain.headers["content-type"], await plain.body.text(), plain.headers.vary]).toEqual([
      "text/plain; charset=utf-8",
      data.note,
      expect.stringContaining("accept"),
    ]);
  }
});

test("A unik that does not exist is resolved, and the verdict names the signer; a false key proves nothing.", async () => {
  const verifying = createVerifyingClient({ url: node.url });
  const { data } = await verifying.facts.checkpoint();
  const unik = "AB".repeat(32);
  const verdict = await verifying.resolve(unik, data.verifierKey);
  expect(verdict).toMatchObject({ verdict: "proven", unik: null, signers: [data.verifierKey] });
  const height = verdict.verdict === "proven" ? verdict.height : 0;
  expect(height % (node.depth / 2)).toBe(0);
  expect(await verifying.resolve(unik, data.verifierKey, { minHeight: height + 1 })).toMatchObject({
    verdict: "refused",
    step: "AGE",
  });
  expect(await verifying.resolve(unik, data.verifierKey, { minSigners: 2 })).toMatchObject({
    verdict: "refused",
    step: "SIGNATURE",
  });
  await expect(verifying.resolve(unik, `${data.verifierKey.slice(0, -4)}AAA=`)).rejects.toThrow(TypeError);
});

test("Every fact has an inclusion proof, and each tree a consistency proof to the next.", async () => {
  const { data: now } = await client().facts.checkpoint();
  for (let index = 0; index < now.size; index += 7) {
    const { data } = await client().facts.proof(index);
    const { root, size, leaf } = data;
    expect([root, size, leaf.hash]).toEqual([
      now.root,
      now.size,
      Buffer.from(leafHash(leaf.text)).toString("hex"),
    ]);
    const proof = data.proof.map(bytesOf);
    expect(isIncluded({ leaf: bytesOf(leaf.hash), index, size }, bytesOf(root), proof)).toBe(true);
  }
  const { data: first } = await client().facts.proof(0, { size: 5 });
  const { data } = await client().facts.consistency(5, now.size);
  const [from, to] = [
    { size: 5, root: bytesOf(first.root) },
    { size: now.size, root: bytesOf(now.root) },
  ];
  expect(isConsistent(from, to, data.proof.map(bytesOf))).toBe(true);
});

test("The tiles yield the root, and the files of leaves yield the tiles' hashes.", async () => {
  const { data } = await client().facts.checkpoint();
  const width = (number: number) => Math.min(256, data.size - number * 256);
  const tiles = new Map<string, Buffer>();
  for (let number = 0; number * 256 < data.size; number++) {
    const path = tilePath(0, number, width(number));
    const response = await get(`tile/${path}`);
    expect([path, response.status, response.headers.get("content-type")]).toEqual([
      path,
      200,
      "application/octet-stream",
    ]);
    const tile = Buffer.from(await response.arrayBuffer());
    tiles.set(`0/${number}`, tile);
    const leaves = Buffer.from(
      await (await get(`tile/${tilePath("entries", number, width(number))}`)).arrayBuffer(),
    );
    const hashes: Uint8Array[] = [];
    for (let offset = 0; offset < leaves.length; ) {
      const length = leaves.readUInt16BE(offset);
      hashes.push(leafHash(leaves.toString("latin1", offset + 2, offset + 2 + length)));
      offset += 2 + length;
    }
    expect(Buffer.concat(hashes)).toEqual(tile);
  }
  for (let number = 0; (number + 1) * 65_536 <= data.size; number++) expect.unreachable();
  const whole = Math.floor(data.size / 256);
  if (whole > 0) {
    const above = await get(`tile/${tilePath(1, 0, whole)}`);
    tiles.set("1/0", Buffer.from(await above.arrayBuffer()));
  }
  const nodes = nodesOfTiles((level, number) => tiles.get(`${level}/${number}`));
  expect(Buffer.from(rootOf(data.size, nodes)).toString("hex")).toBe(data.root);
});

test.each([
  ["1000000/proof", 404, "FACT_UNKNOWN"],
  ["0/proof?size=0", 404, "FACT_UNKNOWN"],
  ["0/proof?size=1000000", 404, "FACT_UNKNOWN"],
  ["9007199254740993/proof", 422, "INVALID_MEMBER"],
  ["x/proof", 422, "INVALID_MEMBER"],
  ["0/proof?size=-1", 422, "INVALID_MEMBER"],
  ["0/proof?at=1", 422, "UNKNOWN_MEMBER"],
  ["consistency?from=2&to=1", 404, "FACT_UNKNOWN"],
  ["consistency?from=1&to=1000000", 404, "FACT_UNKNOWN"],
  ["consistency?from=1", 422, "MISSING_MEMBER"],
  ["tile/0/000", 404, "FACT_UNKNOWN"],
  ["tile/0/999.p/1", 404, "FACT_UNKNOWN"],
  ["tile/7/000.p/1", 404, "FACT_UNKNOWN"],
  ["tile/entries/000.p/257", 404, "FACT_UNKNOWN"],
  ["tile/0/..%2f..%2fnode.sqlite", 404, "FACT_UNKNOWN"],
])("%s is refused with %i and %s.", async (path, status, code) => {
  // Only long chains have a complete tile.
  if (path === "tile/0/000" && (await client().facts.checkpoint()).data.size >= 256) return;
  const response = await get(path);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
});
