import { bytesToHex, createNetwork, encodeBlock } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { BlockStore } from "../../../src/store/chain/blocks.ts";
import { TransactionStore } from "../../../src/store/chain/transactions.ts";
import { type OpenChain, openChain, readChain } from "../../../test-support/chain/fixtures.ts";

const content = readChain("chain-1");
const network = createNetwork(content.network);
const serialized: string[] = content.blocks.map((block: { serialized: string }) => block.serialized);
const HEIGHT = serialized.length + 1;

let open: OpenChain;
beforeAll(async () => {
  open = openChain(content, ":memory:");
  await open.chain.accept(serialized.map((hex) => Buffer.from(hex, "hex")));
});
afterAll(() => open.close());

describe("stored blocks", () => {
  test("Stored blocks are read unchanged, by height and by id.", () => {
    const blocks = new BlockStore(open.database);
    for (const { height, id, serialized } of content.blocks) {
      const block = present(blocks.block(height), "the result of block");
      expect(bytesToHex(encodeBlock(block, network)), `block ${height}`).toBe(serialized);
      expect(block.header).toMatchObject({ id, height });
      expect(blocks.header(height)).toEqual(block.header);
      expect(blocks.headerById(id)).toEqual(block.header);
      expect(block.transactions.every(({ isVerified }) => isVerified)).toBe(true);
    }
    expect(blocks.head()).toEqual(blocks.header(HEIGHT));
  });

  test("Stored blocks keep the id of the genesis file, which does not follow the ordinary rule.", () => {
    const blocks = new BlockStore(open.database);
    expect(blocks.header(1)).toMatchObject({ id: content.genesis.id, height: 1, previousBlock: "0" });
    expect(blocks.block(1)?.transactions.map(({ data }) => data.id)).toEqual(
      content.genesis.transactions.map(({ id }: { id: string }) => id),
    );
  });

  test("Stored blocks are read as bytes for peers, as far as they exist.", () => {
    const blocks = new BlockStore(open.database);
    const range = blocks.bytes(HEIGHT - 9, HEIGHT + 400);
    expect(range.map(({ id }) => id)).toEqual(content.blocks.slice(-10).map(({ id }: { id: string }) => id));
    for (const [index, { header, transactions }] of range.entries()) {
      const parts = [header, ...transactions].map(bytesToHex);
      const whole = present(serialized.at(index - 10), "an item of serialized");
      expect(whole.startsWith(present(parts[0], "an item of parts"))).toBe(true);
      expect(whole.endsWith(parts.slice(1).join(""))).toBe(true);
    }
    expect(blocks.bytes(HEIGHT + 1, HEIGHT + 2)).toEqual([]);
  });

  test("Blocks that are not stored are absent.", () => {
    const blocks = new BlockStore(open.database);
    expect(blocks.header(HEIGHT + 1)).toBeUndefined();
    expect(blocks.block(HEIGHT + 1)).toBeUndefined();
    expect(blocks.headerById("0")).toBeUndefined();
  });
});

describe("stored transactions", () => {
  test("Stored transactions are found by id.", () => {
    const transactions = new TransactionStore(open.database);
    const { id } = content.genesis.transactions[0];
    expect(transactions.storedIds([id, "0".repeat(64)])).toEqual([id]);
    expect(transactions.storedIds([])).toEqual([]);
  });

  test("Stored transactions contain their position among those of the sender, in version 1 too.", () => {
    const rows = open.database
      .prepare<{ sender: number; nonce: number }>(
        "SELECT sender, nonce FROM transactions ORDER BY height, sequence",
      )
      .all();
    const positions = new Map<number, number>();
    for (const { sender, nonce } of rows) {
      positions.set(sender, (positions.get(sender) ?? 0) + 1);
      expect(nonce, `${sender}`).toBe(positions.get(sender));
    }
    expect(rows.length).toBeGreaterThan(100);
  });

  test("Stored transactions are read oldest first, up to a limit.", () => {
    const transactions = new TransactionStore(open.database);
    const all = new BlockStore(open.database)
      .bytes(50, HEIGHT)
      .flatMap(({ transactions }) => transactions.map(bytesToHex));
    expect(transactions.sealedFrom(50, 1_000).map(({ bytes }) => bytesToHex(bytes))).toEqual(all);
    expect(transactions.sealedFrom(50, 3).map(({ bytes }) => bytesToHex(bytes))).toEqual(all.slice(0, 3));
    expect(transactions.sealedFrom(HEIGHT + 1, 3)).toEqual([]);
  });
});
