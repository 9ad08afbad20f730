import { mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importBlocks } from "../../src/archive/import.ts";
import { exportBlocks, readStream, writeStream } from "../../src/archive/stream.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { type Archived, archiveFixture } from "../../test-support/archive/fixture.ts";
import { dumpOf } from "../../test-support/chain/fixtures.ts";

const NETHASH = "ab".repeat(32);

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const written = async (blocks: Uint8Array[], height = 2) =>
  Buffer.concat(await collect(writeStream({ nethash: NETHASH, height }, blocks)));

describe("a stream of blocks", () => {
  test("A stream of blocks is decoded from pieces of any size.", async () => {
    const someBlocks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(someBlocks, fc.integer({ min: 1, max: 500 }), async (blocks, size) => {
        const { head, blocks: read } = await readStream(pieces(await written(blocks, 7), size));
        expect(head).toEqual({ nethash: NETHASH, height: 7 });
        expect((await collect(read)).map((block) => [...block])).toEqual(blocks.map((block) => [...block]));
      }),
      { numRuns: 100 },
    );
  });

  test("A stream of blocks that is truncated anywhere is reported.", async () => {
    const whole = await written([new Uint8Array(40).fill(1), new Uint8Array(3).fill(2)]);
    for (let length = 0; length < whole.length; length++) {
      const reading = readStream(pieces(whole.subarray(0, length), 9)).then(({ blocks }) => collect(blocks));
      await expect(reading, `${length} bytes`).rejects.toMatchObject({ code: "ARCHIVE_DAMAGED" });
    }
  });

  test("A stream of blocks that goes on after its end is refused.", async () => {
    const whole = await written([new Uint8Array(40).fill(1)]);
    for (const rest of [whole, Buffer.from([0])]) {
      const { blocks } = await readStream(pieces(Buffer.concat([whole, rest]), 50));
      await expect(collect(blocks)).rejects.toThrow("import each stream by itself");
    }
  });

  test("A stream of blocks with a block above the maximum size is refused before it is read.", async () => {
    const whole = await written([]);
    whole.writeUInt32LE(0xffffffff, whole.length - 4);
    const { blocks } = await readStream(pieces(whole, 50));
    await expect(collect(blocks)).rejects.toMatchObject({ code: "ARCHIVE_DAMAGED" });
  });
});

describe("export and import", () => {
  let archived: Archived;
  let names = 0;
  const newFolder = () => join(archived.folder, `import-${names++}`);
  beforeAll(async () => {
    archived = await archiveFixture("chain-random-1");
  });
  afterAll(() => archived.remove());

  const exported = (range: { from: number; to?: number } = { from: 2 }) =>
    exportBlocks({ data: archived.data, network: archived.deps.network, ...range, onProgress: () => {} });
  const imported = (stream: AsyncIterable<Uint8Array>, data: string) =>
    importBlocks(stream, data, archived.deps);
  const dump = (data: string) => {
    const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
    const rows = dumpOf(database).filter((row) => !row.startsWith("meta webhookToken"));
    database.close();
    return rows;
  };

  test("Export and import copy a chain to an empty folder.", async () => {
    const data = newFolder();
    const { accepted, skipped, head } = await imported(exported(), data);
    expect([accepted, skipped, head.height]).toEqual([archived.height - 1, 0, archived.height]);
    expect(dump(data)).toEqual(dump(archived.data));
  });

  test("The import resumes after it was stopped.", async () => {
    const data = newFolder();
    await imported(exported({ from: 2, to: 20 }), data);
    const { accepted, skipped } = await imported(exported({ from: 10 }), data);
    expect([accepted, skipped]).toEqual([archived.height - 20, 11]);
    expect(dump(data)).toEqual(dump(archived.data));
  });

  test("The progress of an import includes the blocks that it skips.", async () => {
    const data = newFolder();
    await imported(exported({ from: 2, to: 20 }), data);
    const progress: number[] = [];
    const onProgress = (blocks: number) => void progress.push(blocks);
    await importBlocks(exported({ from: 18 }), data, { ...archived.deps, onProgress });
    expect(progress.slice(0, 3)).toEqual([1, 2, 3]);
    expect(progress.at(-1)).toBe(archived.height - 17);
  });

  test("Export and import keep blocks that were accepted before the truncation.", async () => {
    const data = newFolder();
    const whole = Buffer.concat(await collect(exported()));
    const half = pieces(whole.subarray(0, whole.length / 2), 5000);
    await expect(imported(half, data)).rejects.toMatchObject({ code: "ARCHIVE_DAMAGED" });
    const { skipped, head } = await imported(exported(), data);
    expect(skipped).toBeGreaterThan(5);
    expect(head.height).toBe(archived.height);
  });

  test("The import counts the blocks of the stream that it skips.", async () => {
    const data = newFolder();
    await imported(exported({ from: 2, to: 20 }), data);
    expect(await imported(exported({ from: 5, to: 9 }), data)).toMatchObject({ accepted: 0, skipped: 5 });
  });

  test("The import does not skip blocks of another branch.", async () => {
    const data = newFolder();
    await imported(exported({ from: 2, to: 20 }), data);
    const { nethash } = archived.deps.network.description;
    const blocks = await collect((await readStream(exported())).blocks);
    // The block of another height stands for one of another branch.
    for (const others of [blocks.slice(0, 8), blocks]) {
      const shifted = writeStream({ nethash, height: 3 }, others);
      await expect(imported(shifted, data)).rejects.toMatchObject({
        code: "ARCHIVE_INVALID",
        message: expect.stringMatching(/^block (10|20) of the stream is .*, but the chain has .*: /),
      });
    }
  });

  test("The import skips the check of signatures up to a block, and resumes with the same one only.", async () => {
    const { id } = archived.content.blocks.at(-1);
    const assumeValid = { height: archived.height, id };
    const pinned = (stream: AsyncIterable<Uint8Array>, data: string, pin = assumeValid) =>
      importBlocks(stream, data, { ...archived.deps, assumeValid: pin });
    const data = newFolder();
    expect((await pinned(exported({ from: 2, to: 20 }), data)).uncheckedFrom).toBe(2);
    await expect(imported(exported(), data)).rejects.toMatchObject({ code: "CHAIN_UNCHECKED" });
    expect((await pinned(exported(), data)).uncheckedFrom).toBeUndefined();
    expect(dump(data)).toEqual(dump(archived.data));

    const other = newFolder();
    const wrong = { ...assumeValid, id: NETHASH };
    await expect(pinned(exported(), other, wrong)).rejects.toMatchObject({ code: "CHAIN_PIN_FAILED" });
    expect(await pinned(exported(), other, wrong)).toMatchObject({ skipped: 0, head: { id } });
  });

  test("Export and import name the refused block and the reason.", async () => {
    const blocks = await collect((await readStream(exported())).blocks);
    const altered = [...blocks.slice(0, 5), ...blocks.slice(6)];
    const { nethash } = archived.deps.network.description;
    const refusal = imported(writeStream({ nethash, height: 2 }, altered), newFolder());
    await expect(refusal).rejects.toMatchObject({
      code: "ARCHIVE_INVALID",
      message: expect.stringContaining("block 7 was refused"),
    });
  });

  test("Export and import refuse blocks of another network and a gap.", async () => {
    const foreign = writeStream({ nethash: NETHASH, height: 2 }, []);
    await expect(imported(foreign, newFolder())).rejects.toMatchObject({ code: "ARCHIVE_FOREIGN" });
    await expect(imported(exported({ from: 9 }), newFolder())).rejects.toMatchObject({
      code: "ARCHIVE_MISSING",
      message: expect.stringContaining("begins at block 9, but the chain ends at 1"),
    });
  });

  test("Export and import change nothing in a folder with the chain of another network.", async () => {
    const data = newFolder();
    mkdirSync(data, { mode: 0o700 });
    const database = openDatabase(join(data, "node.sqlite"));
    database.execute(`CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('nethash', '${NETHASH}')`);
    const tables = () => database.prepare<{ name: string }>("SELECT name FROM sqlite_schema").all();
    await expect(imported(exported(), data)).rejects.toMatchObject({ code: "CHAIN_NETWORK_MISMATCH" });
    expect(tables()).toEqual([{ name: "meta" }]);
    database.close();
  });

  test("Export and import refuse heights above the head.", async () => {
    await expect(collect(exported({ from: 5000 }))).rejects.toMatchObject({ code: "ARCHIVE_MISSING" });
  });
});
