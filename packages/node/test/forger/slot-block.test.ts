import type { EncodedBlock, KeyPair } from "@uniknode/protocol";
import { pino } from "pino";
import { expect, test } from "vitest";
import { failureReason, SlotBlocks, type SlotBlocksDeps } from "../../src/forger/slot-block.ts";

const own = { slot: 7, publicKey: "key", keys: {} as KeyPair };
const block = { header: { id: "abc" } } as EncodedBlock;

function open(changes: Partial<SlotBlocksDeps> = {}) {
  const calls: string[] = [];
  const blocks = new SlotBlocks({
    guard: {
      refusalOf: () => undefined,
      refused: (_, kind) => void calls.push(`refused: ${kind}`),
      signed: ({ id }) => void calls.push(`recorded: ${id}`),
    },
    slotStore: { recordMissed: (_, slot, reason) => void calls.push(`missed ${slot}: ${reason}`) },
    build: () => block,
    submitBlock: async () => void calls.push("submitted"),
    onSettled: (slot) => void calls.push(`settled ${slot}`),
    onSigned: () => void calls.push("signed"),
    onForged: ({ header }) => void calls.push(`forged: ${header.id}`),
    logger: pino({ level: "silent" }),
    ...changes,
  });
  return { blocks, calls };
}

test("A slot is settled before it is signed, and its signature is recorded before the block is sent.", async () => {
  const { blocks, calls } = open();
  expect(await blocks.forge(own, [])).toBe(block);
  expect(calls).toEqual(["settled 7", "recorded: abc", "signed", "submitted", "forged: abc"]);
});

test("A slot that the guard refuses is not signed.", () => {
  const guard: SlotBlocksDeps["guard"] = {
    refusalOf: () => ({ kind: "watching", reason: "watching" }),
    refused: () => {},
    signed: () => {},
  };
  const { blocks, calls } = open({ guard });
  expect(() => blocks.sign(own, [])).toThrow("watching");
  expect(calls).toEqual(["settled 7"]);
});

test("A block that the chain refuses, or that cannot be created, is a missed slot with its reason.", async () => {
  const refused = open({ submitBlock: async () => "wrong" });
  await expect(refused.blocks.forge(own, [])).rejects.toThrow("forged block abc was refused: wrong");
  expect(refused.calls.at(-1)).toBe("missed 7: the block was refused: wrong");
  const broken = open({
    build() {
      throw new Error("no key");
    },
  });
  await expect(broken.blocks.forge(own, [])).rejects.toThrow("no key");
  expect(broken.calls.at(-1)).toBe("missed 7: failed to create the block: no key");
});

test("The reason of a failure names the disk if it is the cause.", () => {
  const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  expect(failureReason(full)).toBe("failed to write the block to the database: disk full");
  expect(failureReason("nothing known")).toBe("failed to create the block: nothing known");
});
