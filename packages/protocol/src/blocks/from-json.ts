/** Reads blocks from JSON (blocks.md 6). */
import { bytesToHex, hexToBytes } from "../crypto/bytes.ts";
import { isBlockException } from "../networks/create.ts";
import { type ParseOptions, transactionFromBlock, transactionFromJson } from "../transactions/parse.ts";
import { matchesBatchSchema } from "../transactions/schema.ts";
import type { SealedTransaction } from "../transactions/transaction.ts";
import { isExceptional, type TransactionContext } from "../transactions/types/registry.ts";
import type { Block } from "./block.ts";
import { decodeBlock, encodeFrame } from "./codec.ts";
import { BlockError } from "./error.ts";
import { blockIdToHex, type HeaderFields } from "./header.ts";
import { headerViolation, type UntrustedObject } from "./schema.ts";

/**
 * Reads a block from an untrusted object. The result is decoded from its bytes: the id is recomputed, except
 * at height 1, where the given one is used.
 *
 * @throws {BlockError} BlockSchemaError, INVALID_BLOCK_BYTES
 * @throws {TransactionError} if a transaction is invalid by the rules at the context's height
 */
export function blockFromJson(input: unknown, context: TransactionContext, options?: ParseOptions): Block {
  const json = objectOf(input);
  const items = listOf(json);
  const ids = items.map(idOf);
  const isException = isBlockException(idOf(json), ids, context.network);
  if (!isException) checkForm(json, items, context);
  const sealed = items.map((item) => transactionFromJson(item, context, options));
  return assemble(json, sealed, context, options);
}

/**
 * The block of an object as peers send it while downloading: `transactions` is a list of hexadecimal bytes,
 * absent if there is none (p2p.md 7.4).
 *
 * @throws {BlockError | TransactionError} as `blockFromJson`
 */
export function blockFromPeerJson(
  input: unknown,
  context: TransactionContext,
  options?: ParseOptions,
): Block {
  const { transactions = [], ...json } = objectOf(input);
  const items = listOf({ transactions });
  const sealed = items.map((item, index) => {
    if (typeof item !== "string" || !/^([0-9a-f]{2})+$/i.test(item))
      throw violation(`.transactions[${index}]`);
    return transactionFromBlock(hexToBytes(item), context, options);
  });
  const ids = sealed.map(({ data }) => data.id);
  if (!isBlockException(idOf(json), ids, context.network)) checkHeaderForm(json, items.length, context);
  return assemble(json, sealed, context, options);
}

/** Writes the object as bytes and reads them again; unchanged transactions are not read twice. */
function assemble(
  json: UntrustedObject,
  sealed: readonly SealedTransaction[],
  context: TransactionContext,
  options: ParseOptions | undefined,
): Block {
  const { network } = context;
  const slices = sealed.map(({ bytes }) => bytes);
  const block = decodeBlock(encodeObject(json, slices, context), network, (slice, sequence) => {
    const known = sealed[sequence];
    return known && bytesToHex(known.bytes) === bytesToHex(slice)
      ? known
      : transactionFromBlock(slice, context, options);
  });
  if (block.header.height !== 1) return block;
  const id = idOf(json);
  return { ...block, header: { ...block.header, id, idHex: blockIdToHex(id) } };
}

function encodeObject(
  json: UntrustedObject,
  transactions: readonly Uint8Array[],
  { network }: TransactionContext,
): Uint8Array {
  try {
    return encodeFrame(fieldsOf(json), transactions, network);
  } catch (error) {
    if (error instanceof BlockError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new BlockError("INVALID_BLOCK_BYTES", `the block cannot be written as bytes: ${reason}`);
  }
}

/** Reads the encoded members; members of a listed exception can have any type. */
function fieldsOf(json: UntrustedObject): HeaderFields {
  const { previousBlock, totalAmount, totalFee, reward, ...members } = json as HeaderFields;
  return {
    ...members,
    previousBlock: previousBlock ? String(previousBlock) : "",
    totalAmount: BigInt(totalAmount),
    totalFee: BigInt(totalFee),
    reward: BigInt(reward),
  };
}

function checkForm(json: UntrustedObject, items: readonly unknown[], context: TransactionContext): void {
  checkHeaderForm(json, items.length, context);
  const wrong = items.findIndex(
    (item) => !isExceptional(context, idOf(item)) && matchesBatchSchema([item], context) !== undefined,
  );
  if (wrong >= 0) throw violation(`.transactions[${wrong}]`);
}

function checkHeaderForm(json: UntrustedObject, count: number, { network }: TransactionContext): void {
  const path = headerViolation(json, network);
  if (path) throw violation(path);
  // A missing number is computed.
  if (json.numberOfTransactions !== undefined && json.numberOfTransactions !== count) {
    throw violation(".transactions");
  }
}

function objectOf(input: unknown): UntrustedObject {
  if (typeof input !== "object" || input === null) throw violation("");
  return input as UntrustedObject;
}

function listOf({ transactions }: UntrustedObject): unknown[] {
  if (!Array.isArray(transactions)) throw violation(".transactions");
  return transactions;
}

/** The id that an object claims; empty if it has none. */
function idOf(object: unknown): string {
  const id = (object as UntrustedObject | null | undefined)?.id;
  return typeof id === "string" ? id : "";
}

const violation = (path: string): BlockError =>
  new BlockError(
    "BlockSchemaError",
    path === "" ? "the block is not an object" : `the member ${path} of the block is invalid`,
    path,
  );
