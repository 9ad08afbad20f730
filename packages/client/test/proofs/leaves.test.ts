/** Proofs that leaves of a tree of facts are all those of some blocks. */
import { createHash } from "node:crypto";
import { present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { provenLeaves } from "../../src/proofs/audit/leaves.ts";
import { createTileReader, createTiles } from "../../src/proofs/audit/tiles.ts";
import type { Note } from "../../src/proofs/resolution/note.ts";
import { createRandom } from "../../test-support/proofs/scene.ts";

const sha256 = (...parts: Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

/** The root of RFC 6962, literally. */
function rootOf(leaves: readonly string[]): Buffer {
  if (leaves.length === 1) return sha256(Buffer.of(0), Buffer.from(present(leaves[0])));
  const left = 2 ** (Math.ceil(Math.log2(leaves.length)) - 1);
  return sha256(Buffer.of(1), rootOf(leaves.slice(0, left)), rootOf(leaves.slice(left)));
}

/** Returns a tile of a tree, as a node serves it. */
function tileOf(leaves: readonly string[], path: string): Uint8Array {
  const [, level = "", digits = "", width = "256"] = /^(\w+)\/([\dx/]+)(?:\.p\/(\d+))?$/.exec(path) ?? [];
  const first = 256 * Number(digits.replaceAll(/[x/]/g, ""));
  if (level === "entries") {
    const texts = leaves.slice(first, first + Number(width));
    return Buffer.concat(texts.flatMap((text) => [Buffer.of(0, text.length), Buffer.from(text)]));
  }
  const unit = 256 ** Number(level);
  return Buffer.concat(
    Array.from({ length: Number(width) }, (_, at) =>
      rootOf(leaves.slice((first + at) * unit, (first + at + 1) * unit)),
    ),
  );
}

describe("A tile", () => {
  const responses = (...given: Response[]) => {
    const urls: string[] = [];
    const read = createTileReader({
      url: "http://127.0.0.1:4003/",
      retries: 1,
      fetch: async (url) => {
        urls.push(String(url));
        return present(given.shift());
      },
    });
    return { read, urls };
  };
  const limited = () => new Response("{}", { status: 429, headers: { "retry-after": "0" } });

  test("A tile is requested again after the time that a rate-limiting node requests.", async () => {
    const { read, urls } = responses(limited(), new Response(Buffer.of(7, 8)));
    expect([...(await read("0/000.p/2"))]).toEqual([7, 8]);
    expect(urls).toEqual(Array(2).fill("http://127.0.0.1:4003/api/v2/facts/tile/0/000.p/2"));
  });

  test("A tile is refused with a code.", async () => {
    await expect(responses(limited(), limited()).read("0/000")).rejects.toMatchObject({
      ...{ code: "API_RATE_LIMITED", isRetryable: true, retryAfterMs: 0 },
    });
    await expect(responses(new Response(Buffer.alloc(65_537))).read("0/000")).rejects.toMatchObject({
      ...{ code: "TILE_INVALID", isRetryable: false },
    });
    await expect(responses(Response.error()).read("0/000")).rejects.toMatchObject({ code: "API_REFUSED" });
  });
});

describe("The leaves of a range of blocks", () => {
  /** Blocks with 0 to 400 facts and `block.applied`, so that some continue over several tiles. */
  const random = createRandom(5);
  const texts = Array.from({ length: 90 }, (_, block) => block + 1).flatMap((height) => {
    const count = random.below(10) === 0 ? 200 + random.below(200) : random.below(6);
    const leaf = (index: number, event: string) => `${height}|${index}|${event}|${"ab".repeat(32)}`;
    const facts = Array.from({ length: count }, (_, index) => leaf(index, "transaction.applied"));
    return [...facts, leaf(count, "block.applied")];
  });
  const size = texts.length;
  const note = { size, root: rootOf(texts).toString("hex"), height: 90 } as Note;
  const heightOf = (text: string) => Number(text.split("|", 1)[0]);

  const leavesOf = (from: number, to: number, leaves = texts) =>
    provenLeaves(
      createTiles(size, async (path) => tileOf(leaves, path)),
      note,
      { from, to },
    );

  test("The leaves of a range of blocks are all of these blocks, and no others.", async () => {
    expect(size).toBeGreaterThan(1_500);
    for (let run = 0; run < 20; run++) {
      const from = 1 + random.below(90);
      const to = from + random.below(91 - from);
      const expected = texts.filter((text) => heightOf(text) >= from && heightOf(text) <= to);
      const found = await leavesOf(from, to);
      expect(found.map((leaf) => [leaf.height, leaf.index, leaf.event])).toEqual(
        expected.map((text) => [
          heightOf(text),
          ...text
            .split("|")
            .slice(1, 3)
            .map((part, at) => (at === 0 ? Number(part) : part)),
        ]),
      );
    }
  });

  test("The leaves cannot be hidden or altered: any other leaf, height or order is refused.", async () => {
    let refused = 0;
    for (let run = 0; run < 20; run++) {
      const from = 2 + random.below(89);
      const to = from + random.below(91 - from);
      const altered = [...texts];
      const at = random.below(size);
      const kind = random.below(4);
      if (kind === 0) altered[at] = present(texts[(at + 1) % size]);
      else if (kind === 1) altered[at] = present(texts[at]).replace("ab", "ac");
      // Other heights mislead the search for the first tile.
      else if (kind === 2)
        for (let index = 0; index < size; index++) {
          const text = present(texts[index]);
          if (index < at)
            altered[index] = text.replace(/^\d+/, (height) => `${Math.max(1, Number(height) - 5)}`);
        }
      else altered.splice(at, 1, present(texts[at]).replace(/^\d+/, "1"));
      const expected = await leavesOf(from, to);
      // Altered leaves outside of the range are not read, or do not matter.
      const found = await leavesOf(from, to, altered).catch((error: Error) => error);
      if (found instanceof Error) {
        refused += 1;
        expect(found.message).toMatch(/facts|leaf/);
      } else expect(found).toEqual(expected);
    }
    expect(refused).toBeGreaterThan(5);
  });
});
