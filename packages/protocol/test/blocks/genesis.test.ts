import { describe, expect, test } from "vitest";
import { signHeader } from "../../src/blocks/check.ts";
import {
  blockFromTrustedBytes,
  blockToJson,
  bytesToHex,
  checkBlock,
  concatBytes,
  createGenesisBlock,
  createNetwork,
  encodeBlock,
  encodeHeader,
  encodeUnsignedHeader,
  genesisBlockFromJson,
  hashedBytes,
  headerFromTrustedBytes,
  headerSignatureJob,
  keysFromPassphrase,
  partialIdOf,
  payloadHashOf,
  presets,
  sha256,
  verifyHeaderJob,
} from "../../src/index.ts";
import { genesisTransfer } from "./fixtures.ts";

const dalinet = createNetwork(presets.dalinet);
const transactions = [1n, 2n, 3n].map((amount) => genesisTransfer(dalinet, amount));
const keys = keysFromPassphrase("genesis");
const { block, files } = createGenesisBlock({ files: presets.dalinet, transactions, keys });
const network = createNetwork(files);
const { header } = block;

const mismatch = expect.objectContaining({ name: "NetworkError", code: "GENESIS_NETHASH_MISMATCH" });

describe("a new genesis block", () => {
  test("A new genesis block follows the genesis rules.", () => {
    const payload = concatBytes(...transactions.map(({ data }) => hashedBytes(data)));
    expect(header).toMatchObject({
      version: 0,
      timestamp: 0,
      height: 1,
      previousBlock: "0",
      previousBlockHex: "0000000000000000",
      numberOfTransactions: 3,
      totalAmount: 6n,
      totalFee: 0n,
      reward: 0n,
      payloadLength: payload.length,
      payloadHash: bytesToHex(sha256(payload)),
      generatorPublicKey: bytesToHex(keys.publicKey),
      ...partialIdOf(sha256(encodeUnsignedHeader(header, network))),
    });
    expect(verifyHeaderJob(headerSignatureJob(header, network))).toBe("valid");
    expect(files.network.nethash).toBe(header.payloadHash);
    expect(presets.dalinet.network.nethash).not.toBe(header.payloadHash);
  });

  test("A new genesis block is read from its file unchanged.", () => {
    const file = JSON.parse(JSON.stringify(blockToJson(block)));
    expect(genesisBlockFromJson(file, network)).toEqual(block);
    for (const previousBlock of [null, "", "0", 0, "0000000000000000"]) {
      expect(genesisBlockFromJson({ ...file, previousBlock }, network)).toEqual(block);
    }
    for (const previousBlock of [undefined, "1", {}, [], { toString: 1 }]) {
      expect(() => genesisBlockFromJson({ ...file, previousBlock }, network)).toThrow(
        expect.objectContaining({ code: "BlockSchemaError", path: ".previousBlock" }),
      );
    }
  });

  test("A new genesis block is read from stored bytes with its stored id.", () => {
    expect(blockFromTrustedBytes(encodeBlock(block, network), network, header.id)).toEqual(block);
    expect(headerFromTrustedBytes(encodeHeader(header, network), header.id)).toEqual(header);
  });

  test("A new genesis block does not pass the ordinary check: it is trusted as configuration.", () => {
    const codes = checkBlock(block, { network, now: Date.now() }).map(({ code }) => code);
    expect(codes).toEqual(["reward", "payload-hash"]);
  });
});

describe("the genesis file", () => {
  const file = blockToJson(block);

  test("The genesis file of another network is refused.", () => {
    expect(() => genesisBlockFromJson(file, dalinet)).toThrow(mismatch);
  });

  test("The genesis file with other transactions is refused.", () => {
    const others = [1n, 2n, 4n].map((amount) => genesisTransfer(dalinet, amount));
    const other = blockToJson({ header, transactions: others });
    expect(() => genesisBlockFromJson(other, network)).toThrow(mismatch);
  });

  test("The genesis file keeps any id in the file.", () => {
    const read = genesisBlockFromJson({ ...file, id: "12345" }, network);
    expect(read.header.id).toBe("12345");
    expect(read.header.idHex).toBe("0000000000003039");
  });

  test("The genesis file can follow the payload rule of other blocks, as private networks do.", () => {
    const payloadHash = payloadHashOf(transactions.map(({ data }) => data.id));
    const unsigned = { ...header, payloadHash, payloadLength: 96 };
    const blockSignature = signHeader(unsigned, keys.privateKey, network);
    const ordinary = { header: { ...unsigned, blockSignature }, transactions };
    const named = createNetwork({ ...files, network: { ...files.network, nethash: payloadHash } });
    expect(genesisBlockFromJson(blockToJson(ordinary), named)).toEqual(ordinary);
  });

  test("The genesis file must contain a block of height 1.", () => {
    const second = { ...file, height: 2, id: "ab".repeat(32), idHex: "ab".repeat(32) };
    expect(() => genesisBlockFromJson(second, network)).toThrow(
      expect.objectContaining({ code: "BlockSchemaError", path: ".height" }),
    );
  });
});
