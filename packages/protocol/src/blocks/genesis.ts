/** The first block of a network, which has its own rules (blocks.md 10). */
import { bytesToHex, concatBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import type { KeyPair } from "../identities/keys.ts";
import { createNetwork } from "../networks/create.ts";
import { NetworkError } from "../networks/error.ts";
import type { Network, NetworkFiles } from "../networks/network.ts";
import { hashedBytes } from "../transactions/id.ts";
import type { SealedTransaction } from "../transactions/transaction.ts";
import type { Block } from "./block.ts";
import { signHeader } from "./check.ts";
import { BlockError } from "./error.ts";
import { blockFromJson } from "./from-json.ts";
import { encodeUnsignedHeader, partialIdOf, payloadHashOf, totalsOf } from "./header.ts";

/** Id of no block, in both forms. */
const NO_PARENT = { previousBlock: "0", previousBlockHex: "0000000000000000" };

/**
 * Reads the genesis block from a network's file, with the id written in the file. It is trusted as
 * configuration: it would not pass `checkBlock`, and its transactions count as verified.
 *
 * @throws {NetworkError} GENESIS_NETHASH_MISMATCH unless its transactions give the payload hash that is the
 * `nethash` of the network
 * @throws {BlockError | TransactionError} if it is not a block of height 1
 */
export function genesisBlockFromJson(json: unknown, network: Network): Block {
  const block = blockFromJson(json, { network, height: 1 }, { checkSignature: false });
  if (block.header.height !== 1) {
    throw new BlockError("BlockSchemaError", "the genesis block must have height 1", ".height");
  }
  const { nethash } = network.description;
  const { payloadHash } = block.header;
  if (payloadHash !== nethash) {
    throw new NetworkError(
      "GENESIS_NETHASH_MISMATCH",
      `the genesis block has payload hash ${payloadHash}, but the network is ${nethash}: use the files of one network`,
    );
  }
  if (!payloadHashesOf(block.transactions).includes(nethash)) {
    throw new NetworkError(
      "GENESIS_NETHASH_MISMATCH",
      `the transactions of the genesis block do not match its payload hash ${nethash}: use the unaltered file`,
    );
  }
  const transactions = block.transactions.map((transaction) => ({ ...transaction, isVerified: true }));
  return { ...block, transactions };
}

/** Input of a new network. Its files are returned with the `nethash` of the block. */
export type GenesisDraft = {
  files: NetworkFiles;
  /** Version 1, timestamp 0, fee 0. */
  transactions: readonly SealedTransaction[];
  keys: KeyPair;
};

/** The genesis block of a new network, and the files that belong to it. */
export function createGenesisBlock(draft: GenesisDraft): { block: Block; files: NetworkFiles } {
  const { files, transactions, keys } = draft;
  const payload = genesisPayload(transactions);
  const network = createNetwork(files);
  const unsigned = {
    version: network.milestoneAt(1).block.version,
    timestamp: 0,
    height: 1,
    ...NO_PARENT,
    numberOfTransactions: transactions.length,
    ...totalsOf(transactions.map(({ data }) => data)),
    reward: 0n,
    payloadLength: payload.length,
    payloadHash: bytesToHex(sha256(payload)),
    generatorPublicKey: bytesToHex(keys.publicKey),
  };
  // The id is computed before signing, and always a partial one.
  const id = partialIdOf(sha256(encodeUnsignedHeader(unsigned, network)));
  const blockSignature = signHeader(unsigned, keys.privateKey, network);
  return {
    block: { header: { ...id, ...unsigned, blockSignature }, transactions },
    files: { ...files, network: { ...files.network, nethash: unsigned.payloadHash } },
  };
}

/** The genesis rule, and the rule of all other blocks, which some private networks used too. */
const payloadHashesOf = (transactions: readonly SealedTransaction[]): string[] => [
  bytesToHex(sha256(genesisPayload(transactions))),
  payloadHashOf(transactions.map(({ data }) => data.id)),
];

/** The bytes whose hashes are the ids, signatures included. */
const genesisPayload = (transactions: readonly SealedTransaction[]): Uint8Array =>
  concatBytes(...transactions.map(({ data }) => hashedBytes(data)));
