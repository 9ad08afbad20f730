/** Number of times that the bytes of a block are encoded and decoded. */
import { beforeEach, expect, test, vi } from "vitest";
import {
  blockFromBytes,
  bytesOfBlock,
  createNetwork,
  forgeBlock,
  keysFromPassphrase,
  presets,
  recheckBlock,
} from "../../src/index.ts";
import { transfer } from "./fixtures.ts";

const calls = vi.hoisted(() => ({
  decodeHeader: 0,
  encodeHeader: 0,
  decodeTransaction: 0,
  encodeTransaction: 0,
}));
const counted = vi.hoisted(
  () =>
    <A extends unknown[], R>(name: keyof typeof calls, run: (...given: A) => R) =>
    (...given: A): R => {
      calls[name]++;
      return run(...given);
    },
);

vi.mock("../../src/blocks/header.ts", async (original) => {
  const codec = await original<typeof import("../../src/blocks/header.ts")>();
  return {
    ...codec,
    decodeHeader: counted("decodeHeader", codec.decodeHeader),
    encodeHeader: counted("encodeHeader", codec.encodeHeader),
    encodeUnsignedHeader: counted("encodeHeader", codec.encodeUnsignedHeader),
  };
});
vi.mock("../../src/transactions/codec.ts", async (original) => {
  const codec = await original<typeof import("../../src/transactions/codec.ts")>();
  return {
    ...codec,
    decodeTransaction: counted("decodeTransaction", codec.decodeTransaction),
    encodeTransaction: counted("encodeTransaction", codec.encodeTransaction),
  };
});

const NONE = { decodeHeader: 0, encodeHeader: 0, decodeTransaction: 0, encodeTransaction: 0 };
const network = createNetwork(presets.livenet);
const context = { network, height: 999 };
const transactions = [transfer(network, 1n), transfer(network, 2n)];

const forge = () =>
  forgeBlock(
    { network, timestamp: 100_000_000, previous: { id: "ab".repeat(32), height: 999 }, transactions },
    keysFromPassphrase("generator"),
  );

beforeEach(() => void Object.assign(calls, NONE));

test("A forged block has its header encoded once, from its signature to the sent bytes.", () => {
  const block = forge();
  expect(calls).toEqual({ ...NONE, encodeHeader: 1 });
  recheckBlock(block, context);
  bytesOfBlock(block);
  expect(calls).toEqual({ ...NONE, encodeHeader: 1 });
});

test("The bytes of a block are decoded once, and each transaction is encoded once for its id.", () => {
  const bytes = bytesOfBlock(forge());
  Object.assign(calls, NONE);
  blockFromBytes(bytes, context, { checkSignature: false });
  expect(calls).toMatchObject({
    decodeHeader: 1,
    encodeHeader: 0,
    decodeTransaction: 2,
    encodeTransaction: 2,
  });
});
