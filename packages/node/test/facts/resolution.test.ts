/** Resolutions of uniks: those of a true node are verified, and no altered one is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ResolutionVerdict, verifyResolution } from "@uniknode/client/proofs";
import { createNetwork } from "@uniknode/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { mutate } from "../../../client/test-support/proofs/mutate.ts";
import { createRandom } from "../../../client/test-support/proofs/scene.ts";
import { Growth } from "../../src/facts/growth.ts";
import { present } from "../../src/platform/present.ts";
import { BlockStore } from "../../src/store/chain/blocks.ts";
import {
  blocksOf,
  CHAINS,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { plainMaps } from "../../test-support/facts/plain-uniks.ts";
import { createResolutions } from "../../test-support/facts/resolutions.ts";

/** A chain of the vectors, whose tree of facts is complete up to each final block in turn. */
async function opened(name: string) {
  const folder = temporaryFolder();
  const content = readChain(name);
  const { chain, database, close } = openChain(content, join(folder.path, "node.sqlite"));
  onTestFinished(async () => {
    await close();
    folder.remove();
  });
  const network = createNetwork(content.network);
  const growth = new Growth({ database, network, onTruncated: () => {} });
  chain.subscribe(({ revertedBlocks }) => {
    if (revertedBlocks > 0) growth.reverted();
  });
  const { key, resolve } = createResolutions(database, network);
  return {
    ...{ chain, database, network, blocks: blocksOf(content), key, resolve },
    grow: () => {
      while (growth.step(0));
    },
    maps: () => {
      const blocks = new BlockStore(database);
      const height = present(blocks.head()).height;
      return plainMaps(
        Array.from({ length: height }, (_, index) => present(blocks.block(index + 1))),
        network,
      );
    },
  };
}

type Opened = Awaited<ReturnType<typeof opened>>;

const ABSENT = ["00".repeat(32), "ff".repeat(32), "5a".repeat(32)];

/** Expects that all uniks of the chain resolve to the values that the execution of the blocks gives. */
async function expectTrue({ maps, resolve, key }: Opened): Promise<number> {
  const all = maps();
  const [some] = all.values();
  const everMinted = new Set([...all.values()].flatMap(({ values }) => [...values.keys()]));
  if (!some || (await resolve("00".repeat(32))) === undefined) return 0;
  for (const unik of [...everMinted, ...ABSENT]) {
    const resolution = present(await resolve(unik), "the resolution");
    const map = present(all.get(resolution.map.height), "the map");
    expect(resolution.map).toMatchObject({ root: map.root, uniks: map.uniks });
    const verdict = verifyResolution(JSON.parse(JSON.stringify(resolution)), { id: unik, keys: key });
    const value = map.values.get(unik);
    expect(verdict).toMatchObject({ verdict: "proven", height: resolution.map.height, signers: [key] });
    const proven = (verdict as Extract<ResolutionVerdict, { verdict: "proven" }>).unik;
    expect(proven && { owner: proven.owner, properties: proven.properties }).toEqual(
      value === undefined ? null : JSON.parse(value),
    );
  }
  return everMinted.size;
}

describe("The uniks of", () => {
  test.each(CHAINS)("%s resolve to their values, before and after reverts of final blocks.", async (name) => {
    const chain = await opened(name);
    let resolved = 0;
    for (let from = 0; from < chain.blocks.length; from += 50) {
      await chain.chain.accept(chain.blocks.slice(from, from + 50));
      chain.grow();
      resolved = await expectTrue(chain);
    }
    if (name !== "chain-1") expect(resolved).toBeGreaterThan(10);
    const { height } = chain.chain.head();
    const target = Math.floor(height / 2);
    await chain.chain.revertTo(target);
    chain.grow();
    await chain.chain.accept(chain.blocks.slice(target - 1));
    chain.grow();
    expect(await expectTrue(chain)).toBe(resolved);
  });
});

/** Resolutions of one key with their verdicts; the last one is of a unik with more properties than a page. */
type Vectors = readonly {
  readonly verifierKey: string;
  readonly cases: readonly { readonly id: string; readonly resolution: object; readonly verdict: object }[];
}[];

test("Stored resolutions of version 3 of the log are proven.", () => {
  const url = new URL("../../../../test/vectors/resolutions/version-3.json", import.meta.url);
  const vectors: Vectors = JSON.parse(readFileSync(url, "utf8"));
  for (const { verifierKey, cases } of vectors) {
    for (const { id, resolution, verdict } of cases) {
      expect(verifyResolution(resolution, { id, keys: verifierKey })).toMatchObject(verdict);
      expect(verdict).toMatchObject({ verdict: "proven" });
    }
  }
});

const COUNT = Number(process.env.PROOF_MUTATIONS ?? 600);

test(`Of ${COUNT} altered resolutions, none proves anything else.`, {
  timeout: 60_000 + COUNT * 20,
}, async () => {
  const { chain, blocks, grow, maps, resolve, key } = await opened("chain-random-2");
  await chain.accept(blocks);
  grow();
  const [unik] = present([...maps().values()].at(-3)).values.keys();
  const random = createRandom(3);
  const steps = new Set<string>();
  for (const id of [present(unik), ...ABSENT.slice(0, 1)]) {
    const resolution = JSON.parse(JSON.stringify(await resolve(id)));
    const options = { id, keys: [key] };
    const verdict = verifyResolution(resolution, options);
    expect(verdict).toMatchObject({ verdict: "proven" });
    for (let index = 0; index < COUNT / 2; index++) {
      const { mutated, name } = mutate(resolution, random);
      const altered = verifyResolution(mutated, options);
      if (altered.verdict === "refused") steps.add(altered.step);
      // The copies of the members of the note are not used.
      else expect([name, altered]).toEqual([name, verdict]);
    }
  }
  expect([...steps].sort()).toEqual(
    expect.arrayContaining(["FORM", "ID", "NOTE", "SIGNATURE", "INCLUSION", "PATH", "VALUE", "PROPERTIES"]),
  );
});
