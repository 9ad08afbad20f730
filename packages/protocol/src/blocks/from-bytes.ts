/** Reads blocks from bytes (blocks.md 5 and 6). */
import type { Network } from "../networks/network.ts";
import { runAtOnce, type Steps } from "../steps.ts";
import type { TransactionContext } from "../transactions/context.ts";
import {
  type ParseOptions,
  recheckTransaction,
  sealedFromTrustedBytes,
  transactionFromBytes,
} from "../transactions/parse.ts";
import type { Block, BlockHeader, BlockParts, EncodedBlock } from "./block.ts";
import { decodeBlock, decodeBlockGradually, readEach } from "./codec.ts";
import { BlockError } from "./error.ts";
import { isBlockException } from "./exception.ts";
import { blockIdToHex } from "./id.ts";
import { decodedHeaderViolation } from "./schema.ts";

export type BlockParseOptions = ParseOptions & {
  /** Called before the first transaction is read; its error ends the reading. */
  readonly checkHeader?: (header: BlockHeader) => void;
};

/**
 * Reads a block from untrusted bytes, each transaction by the rules in force at the context's height, which
 * is that of the last accepted block. `checkBlock` checks if the block is valid.
 *
 * @throws {BlockError} INVALID_BLOCK_BYTES, or BlockSchemaError on a height of 0 or an amount above 2^63 - 1
 * @throws {TransactionError} if a transaction cannot be read
 */
export const blockFromBytes = (
  bytes: Uint8Array,
  context: TransactionContext,
  options?: BlockParseOptions,
): Block => runAtOnce(blockFromBytesGradually(bytes, context, options));

/** The same in steps of a few transactions. */
export function* blockFromBytesGradually(
  bytes: Uint8Array,
  context: TransactionContext,
  options: BlockParseOptions = {},
): Steps<Block> {
  const { network } = context;
  const { checkHeader, ...parseOptions } = options;
  const readTransaction = (slice: Uint8Array) => transactionFromBytes(slice, context, parseOptions);
  const block = yield* decodeBlockGradually(bytes, network, readTransaction, checkHeader);
  checkForm(block, network);
  return block;
}

/**
 * The block of a decoded header and untrusted bytes of transactions, as `blockFromBytes` reads them, in steps of a
 * few transactions.
 *
 * @throws {BlockError} BlockSchemaError, also when the header has another number of transactions
 * @throws {TransactionError} if a transaction cannot be read
 */
export function* blockFromPartsGradually(
  { header, headerBytes, transactionBytes }: BlockParts,
  context: TransactionContext,
  options: ParseOptions = {},
): Steps<EncodedBlock> {
  if (header.numberOfTransactions !== transactionBytes.length) {
    throw new BlockError(
      "BlockSchemaError",
      `the header announces ${header.numberOfTransactions} transactions, but the block has ${transactionBytes.length}`,
      ".transactions",
    );
  }
  const read = (bytes: Uint8Array) => transactionFromBytes(bytes, context, options);
  const transactions = yield* readEach(transactionBytes, read);
  const block = { header, headerBytes, transactions };
  checkForm(block, context.network);
  return block;
}

/**
 * Checks a block that was created from values, like `blockFromBytes` checks its bytes; its transactions are
 * not verified. Nothing is encoded or decoded.
 *
 * @throws {BlockError} BlockSchemaError
 * @throws {TransactionError} if a transaction is invalid by the rules at the context's height
 */
export function recheckBlock<B extends EncodedBlock>(block: B, context: TransactionContext): B {
  const transactions = block.transactions.map((transaction) => recheckTransaction(transaction, context));
  const rechecked = { ...block, transactions };
  checkForm(rechecked, context.network);
  return rechecked;
}

function checkForm(block: Block, network: Network): void {
  const violation = decodedHeaderViolation(block.header, network);
  const ids = () => block.transactions.map(({ data }) => data.id);
  if (violation && !isBlockException(block.header.id, ids(), network)) {
    throw new BlockError("BlockSchemaError", `the member ${violation} of the block is invalid`, violation);
  }
}

/**
 * Reads a block from bytes that were accepted before: nothing is checked, all transactions count as verified.
 *
 * @param id of the genesis block, which does not follow the ordinary rule
 * @throws {BlockError} INVALID_BLOCK_BYTES
 */
export function blockFromTrustedBytes(bytes: Uint8Array, network: Network, id?: string): Block {
  const block = decodeBlock(bytes, network, (slice) => sealedFromTrustedBytes(slice));
  return id === undefined ? block : { ...block, header: { ...block.header, id, idHex: blockIdToHex(id) } };
}
