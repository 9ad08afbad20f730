/** Download from many peers at once (p2p.md 13). */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/chain/outcome.ts";
import type { FetchedBlock } from "../../../src/chain/pipeline/receive.ts";
import { type DownloadDeps, download } from "../../../src/peers/download/download.ts";
import type { Source } from "../../../src/peers/download/source.ts";
import { ProgressMeter } from "../../../src/peers/sync/catch-up.ts";
import { present } from "../../../src/platform/present.ts";

/** A block consists of the bytes of its height. */
const blockAt = (height: number) => Uint8Array.of(height >> 8, height & 255);
function heightOf(block: FetchedBlock): number {
  const [high, low] = block as Uint8Array;
  return (present(high) << 8) + present(low);
}
const blocksAfter = (after: number, count: number) =>
  Array.from({ length: count }, (_, index) => blockAt(after + 1 + index));

const source = (ip: string, height = 3_000): Source => ({ ip, height, isUniknode: false });
const RANGE = { after: 10, to: 3_000 };

/** A chain that accepts every block that follows its head. */
function world(fetch: DownloadDeps["fetch"], accept?: DownloadDeps["accept"]) {
  const taken: number[] = [];
  const failures: string[] = [];
  const ending = new AbortController();
  const deps: DownloadDeps = {
    fetch,
    accept:
      accept ??
      (async (blocks) => {
        taken.push(...blocks.map(heightOf));
        return blocks.map((): Outcome => ({ kind: "Accepted" }));
      }),
    onFailure: ({ ip }) => failures.push(ip),
    signal: ending.signal,
  };
  return { deps, taken, failures, ending };
}

const honest: DownloadDeps["fetch"] = async (_, after, limit) => blocksAfter(after, limit);
const all = Array.from({ length: 2_990 }, (_, index) => 11 + index);

describe("a download", () => {
  test("A download fetches chunks from every source, and submits them to the chain in order.", async () => {
    const requested = new Map<string, number>();
    const { deps, taken } = world(async ({ ip }, after, limit) => {
      requested.set(ip, (requested.get(ip) ?? 0) + 1);
      await new Promise((resolve) => setImmediate(resolve));
      return blocksAfter(after, limit);
    });
    const sources = [source("a"), source("b"), source("c")];
    expect(await download(RANGE, sources, deps)).toEqual({ kind: "done" });
    expect(taken).toEqual(all);
    expect([...requested.keys()].sort()).toEqual(["a", "b", "c"]);
  });

  test("A download leaves no listener on its signal, which outlives it.", async () => {
    const { deps, ending } = world(honest);
    for (let run = 0; run < 3; run++) await download(RANGE, [source("a")], deps);
    expect(getEventListeners(ending.signal, "abort")).toEqual([]);
  });

  test("A download requests again the blocks that a source omitted.", async () => {
    const { deps, taken } = world(async (_, after, limit) => blocksAfter(after, Math.min(limit, 7)));
    expect((await download(RANGE, [source("a"), source("b")], deps)).kind).toBe("done");
    expect(taken).toEqual(all);
  });

  test("A download assigns the chunk of a failing source to another one.", async () => {
    const { deps, taken, failures } = world(async ({ ip }, after, limit) => {
      if (ip === "a") throw new Error("gone");
      return blocksAfter(after, limit);
    });
    expect((await download(RANGE, [source("a"), source("b")], deps)).kind).toBe("done");
    expect(taken).toEqual(all);
    expect(failures).toEqual(["a", "a"]);
  });

  test("A download ends with the failure of the chain, when all submitted blocks are processed.", async () => {
    let submitted = 0;
    let open = 0;
    const { deps } = world(honest, async (blocks) => {
      const isSecond = ++submitted === 2;
      open++;
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      if (isSecond) throw new Error("the disk is full");
      return blocks.map((): Outcome => ({ kind: "Accepted" }));
    });
    await expect(download(RANGE, [source("a")], deps)).rejects.toThrow("the disk is full");
    expect(open).toBe(0);
  });

  test("A download requests no more from a source than it claims.", async () => {
    const { deps, taken } = world(async ({ ip, height }, after, limit) => {
      if (after + limit > height) throw new Error(`${ip} received a request for too much`);
      return blocksAfter(after, limit);
    });
    expect((await download(RANGE, [source("a", 900), source("b")], deps)).kind).toBe("done");
    expect(taken).toEqual(all);
  });

  test("A download ends if no source sends the rest.", async () => {
    const lying: DownloadDeps["fetch"] = async (_, after, limit) =>
      blocksAfter(after, Math.min(limit, Math.max(0, 500 - after)));
    const { deps, taken } = world(lying);
    expect((await download(RANGE, [source("a"), source("b", 500)], deps)).kind).toBe("exhausted");
    expect(taken.at(-1)).toBe(500);
  });

  test("A download ends when the chain refuses a block, and returns its source.", async () => {
    const { deps } = world(
      async ({ ip }, after, limit) =>
        blocksAfter(after, limit).map((block) => Buffer.concat([block, Buffer.from(ip)])),
      async (blocks) =>
        blocks.map(
          (block): Outcome => (heightOf(block) < 1_000 ? { kind: "Accepted" } : { kind: "Skipped" }),
        ),
    );
    const result = await download(RANGE, [source("a")], deps);
    expect(result).toMatchObject({ kind: "refused", source: { ip: "a" }, outcome: { kind: "Skipped" } });
  });

  test("A download ends when the node stops, even if a source never replies.", async () => {
    const { deps, ending } = world(() => new Promise(() => {}));
    const downloading = download(RANGE, [source("a")], deps);
    ending.abort();
    expect((await downloading).kind).toBe("exhausted");
  });

  test("A download bounds the bytes that are buffered.", async () => {
    let waiting = 0;
    let most = 0;
    const bytes = 8 * 1024 * 1024;
    const { deps } = world(
      async (_, after) => {
        waiting += bytes;
        most = Math.max(most, waiting);
        return [Buffer.concat([blockAt(after + 1), new Uint8Array(bytes - 2)])];
      },
      async (blocks) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        waiting -= bytes * blocks.length;
        return blocks.map((): Outcome => ({ kind: "Accepted" }));
      },
    );
    await download({ after: 0, to: 60 }, [source("a"), source("b"), source("c")], deps);
    // 64 MiB, and the requests in flight when they were reached.
    expect(most / bytes).toBeLessThanOrEqual(13);
  });

  test("A download requests the chunk of a slow source from another one, and continues without it.", async () => {
    const requested: string[] = [];
    const { deps, taken } = world(async ({ ip }, after, limit) => {
      requested.push(ip);
      if (ip === "slow") await new Promise(() => {});
      return blocksAfter(after, limit);
    });
    const sources = [source("slow"), source("b"), source("c")];
    expect(await download(RANGE, sources, deps)).toEqual({ kind: "done" });
    expect(taken).toEqual(all);
    expect(requested.filter((ip) => ip === "slow")).toHaveLength(1);
  });

  test("A download uses the first of two replies.", async () => {
    const late: (() => void)[] = [];
    const { deps, taken } = world(async ({ ip }, after, limit) => {
      if (ip === "slow") await new Promise<void>((resolve) => late.push(resolve));
      // The chunk of the slow source arrives while the rest is in flight.
      else if (after > 2_000) for (const resolve of late.splice(0)) resolve();
      return blocksAfter(after, limit);
    });
    expect(await download(RANGE, [source("slow"), source("b")], deps)).toEqual({ kind: "done" });
    expect(taken).toEqual(all);
  });

  test("A download waits for the only source of a chunk, however slow it is.", async () => {
    const { deps, taken } = world(async ({ ip }, after, limit) => {
      if (ip === "slow" && after >= 900) await new Promise((resolve) => setTimeout(resolve, 20));
      return blocksAfter(after, limit);
    });
    expect(await download(RANGE, [source("low", 900), source("slow")], deps)).toEqual({ kind: "done" });
    expect(taken).toEqual(all);
  });

  test("A download fetches everything from a single source.", async () => {
    const { deps, taken } = world(honest);
    await download(RANGE, [source("a")], deps);
    expect(taken).toEqual(all);
  });
});

test("Progress is measured over the last half minute.", () => {
  const meter = new ProgressMeter();
  expect(meter.measure(0, 1_000, 0)).toEqual({ target: 1_000, percent: 0, blocksPerSecond: 0 });
  expect(meter.measure(100, 1_000, 1_000)).toMatchObject({
    percent: 10,
    blocksPerSecond: 100,
    secondsLeft: 9,
  });
  meter.measure(100, 1_000, 40_000);
  expect(meter.measure(400, 1_000, 70_000)).toMatchObject({
    percent: 40,
    blocksPerSecond: 10,
    secondsLeft: 60,
  });
});
