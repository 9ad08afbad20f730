/** Runners of blocks (blocks.md). */
import assert from "node:assert/strict";
import {
  type Block,
  type BlockFault,
  blockFromBytes,
  blockFromJson,
  blockFromPeerJson,
  blockFromTrustedBytes,
  blockIdToHex,
  blockToJson,
  blockToPeerJson,
  bytesToHex,
  checkBlock,
  containsMultiSignatures,
  decodeBlock,
  decodeHeader,
  encodeBlock,
  encodeHeader,
  encodeUnsignedHeader,
  forgeBlock,
  fullIdOf,
  genesisBlockFromJson,
  hashedBytes,
  headerFromTrustedBytes,
  headerSignatureJob,
  hexToBytes,
  keysFromPassphrase,
  type Network,
  partialIdFromHex,
  partialIdOf,
  partialIdToHex,
  sha256,
  verifyHeaderJob,
} from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { networkNamed } from "./networks.ts";
import { eachCase, type Runners } from "./vector.ts";

/** Error classes that are normative; for the others only the refusal counts. */
const NAMED = ["BlockSchemaError", "TransactionVersionError", "InvalidTransactionBytesError"];

type Verification = { verified: boolean; containsMultiSignatures?: boolean; errors: string[] };

/** The verdict in the words of the vectors, which name an unverified transaction by the bytes received. */
function verificationOf(block: Block, network: Network, received: readonly Uint8Array[]): Verification {
  const nameOf = ({ code, transactionId, sequence }: BlockFault) => {
    if (transactionId === undefined) return code;
    const isUnverified = code === "unverified-transaction";
    return `${code}:${isUnverified ? bytesToHex(sha256(present(received[present(sequence)]))) : transactionId}`;
  };
  const faults = checkBlock(block, { network, now: Date.now() });
  return {
    verified: faults.length === 0,
    containsMultiSignatures: containsMultiSignatures(block),
    errors: faults.map(nameOf),
  };
}

const bytesOf = (block: Block) => block.transactions.map(({ bytes }) => bytes);

/** Converts to plain JSON values, as in messages of peers and in files. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

export const blockRunners: Runners = {
  "block-ids": eachCase(({ decimal, hex, headerHash, partial, full }) => {
    if (headerHash) {
      const hash = hexToBytes(headerHash);
      assert.deepEqual(partialIdOf(hash), { id: partial.decimal, idHex: partial.hex });
      assert.deepEqual(fullIdOf(hash), { id: full, idHex: full });
      assert.equal(blockIdToHex(partial.decimal), partial.hex);
      return;
    }
    assert.equal(partialIdToHex(decimal), hex);
    assert.equal(partialIdFromHex(hex), decimal ?? "0");
  }),

  blocks: eachCase(({ network: name, currentHeight, generatorPassphrase, json, expect }) => {
    const network = networkNamed(name);
    const context = { network, height: currentHeight };
    const received = hexToBytes(expect.serialized);
    const block = blockFromBytes(received, context);
    const { header, transactions } = block;

    assert.equal(header.id, expect.id);
    assert.equal(header.idHex, expect.idHex);
    const signingBytes = encodeUnsignedHeader(header, network);
    assert.equal(bytesToHex(signingBytes), expect.signingBytes);
    assert.equal(bytesToHex(sha256(signingBytes)), expect.signingHash);
    const headerBytes = encodeHeader(header, network);
    assert.equal(bytesToHex(headerBytes), expect.headerBytes);
    assert.deepEqual(headerFromTrustedBytes(headerBytes, expect.id), header);
    assert.equal(bytesToHex(encodeBlock(block, network)), expect.serialized);
    assert.deepEqual(verificationOf(block, network, bytesOf(block)), expect.verification);
    if (expect.transactionIds) {
      const ids = transactions.map(({ data }) => data.id);
      assert.deepEqual(ids, expect.transactionIds);
    }
    assert.deepEqual(blockToJson(blockFromTrustedBytes(received, network)), blockToJson(block));
    const previous = { id: header.previousBlock, height: header.height - 1 };
    const draft = { network, timestamp: header.timestamp, previous, transactions };
    assert.deepEqual(forgeBlock(draft, keysFromPassphrase(generatorPassphrase)), { ...block, headerBytes });

    if (!json) return;
    assert.deepEqual(blockFromJson(json, context), block);
    assert.deepEqual(asJson(blockToJson(block)), expect.json);
    assert.deepEqual(blockFromJson(expect.json, context), block);
    assert.deepEqual(asJson(blockToPeerJson(block)), expect.peerToPeer);
    assert.deepEqual(blockFromPeerJson(expect.peerToPeer, context), block);
  }),

  "blocks-invalid": eachCase(({ name, network: networkName, currentHeight, json, bytes, expect }) => {
    const network = networkNamed(networkName);
    const context = { network, height: currentHeight };
    const received = bytes === undefined ? undefined : () => hexToBytes(bytes);
    const read = () => (received ? blockFromBytes(received(), context) : blockFromJson(json, context));
    if (!expect.parsed) {
      if (NAMED.includes(expect.error)) assert.throws(read, { code: expect.error }, name);
      else assert.throws(read, name);
      return;
    }
    const block = read();
    assert.equal(block.header.id, expect.id);
    const slices = received
      ? decodeBlock(received(), network, (slice) => slice).transactions
      : bytesOf(block);
    assert.deepEqual(verificationOf(block, network, slices), expect.verification);
    const reserialized = bytesToHex(encodeBlock(block, network));
    if (expect.reserialized === "same") assert.equal(reserialized, bytes.toLowerCase());
    else if (expect.reserialized === "different") assert.notEqual(reserialized, bytes.toLowerCase());
  }),

  genesis: eachCase(({ network: name, genesisBlock, expect }) => {
    const network = networkNamed(name);
    if (!expect.parsed) {
      assert.throws(() => genesisBlockFromJson(genesisBlock, network), { code: expect.error });
      return;
    }
    const block = genesisBlockFromJson(genesisBlock, network);
    const { header, transactions } = block;
    assert.equal(header.id, expect.id);
    assert.equal(header.idHex, expect.idHex);
    assert.equal(header.payloadHash === network.description.nethash, expect.payloadHashEqualsNethash);
    assert.equal(bytesToHex(encodeBlock(block, network)), expect.serialized);
    const headerBytes = encodeHeader(header, network);
    assert.equal(decodeHeader(headerBytes, network).header.id, expect.headerIdIfComputed);
    assert.deepEqual(headerFromTrustedBytes(headerBytes, header.id), header);

    const unsigned = encodeUnsignedHeader(header, network);
    assert.equal(bytesToHex(unsigned), expect.headerBytesWithoutSignature);
    assert.equal(partialIdOf(sha256(unsigned)).id, expect.idFromHeaderWithoutSignature);
    const isSigned = verifyHeaderJob(headerSignatureJob(header, network)) === "valid";
    assert.equal(isSigned, expect.signatureValid);

    const codes = checkBlock(block, { network, now: Date.now() }).map(({ code }) => code);
    const { verified, errors } = expect.verification;
    assert.deepEqual(
      [...new Set(codes)].filter((code) => code !== "unverified-transaction"),
      errors,
    );
    assert.equal(codes.length === 0, verified);
    const summaries = transactions.map(({ data, bytes, isVerified }) => ({
      id: data.id,
      serialized: bytesToHex(bytes),
      verified: isVerified,
    }));
    assert.deepEqual(summaries, expect.transactions);
    const ids = genesisBlock.transactions.map(({ id }: { id: string }) => id);
    const isSame = ids.every((id: string, index: number) => id === present(transactions[index]).data.id);
    assert.equal(isSame, expect.idsMatchFile);
    const payload = transactions.map(({ data }) => hashedBytes(data));
    const payloadBytes = Uint8Array.from(payload.flatMap((part) => [...part]));
    assert.equal(bytesToHex(sha256(payloadBytes)), expect.payloadHashOverIdBytes);
    assert.equal(payloadBytes.length, expect.payloadLengthOfIdBytes);
  }),
};
