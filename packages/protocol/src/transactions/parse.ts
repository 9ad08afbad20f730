/** Parses transactions from JSON and bytes into the same normal form (transactions.md 1). */

import { sha256Hex } from "../crypto/hashes.ts";
import { present } from "../present.ts";
import { addressPayload } from "./addresses.ts";
import { decodeTransaction, encodeTransaction } from "./codec.ts";
import { TransactionError } from "./errors.ts";
import { transactionId } from "./id.ts";
import { copyJson, isSameBody } from "./json.ts";
import { strictViolation } from "./schema.ts";
import type { SealedTransaction, TransactionBody } from "./transaction.ts";
import { TYPE_GROUPS } from "./type-groups.ts";
import {
  findTransactionType,
  isExceptional,
  milestoneOf,
  type TransactionContext,
  unknownType,
} from "./types/registry.ts";
import type { TransactionType } from "./types/type.ts";
import { isVerified } from "./verify.ts";

export type ParseOptions = {
  /**
   * True if the sender's signature is checked, which is most of the work. Without it `isVerified` is false,
   * and `signatureJob` contains the check that is left.
   */
  checkSignature?: boolean;
};

/**
 * Parses untrusted JSON, which is not changed.
 *
 * @throws {TransactionError} any code but DuplicateParticipantInMultiSignatureError comes from the input
 *   itself; that one and InvalidTransactionBytesError from its bytes
 */
export function transactionFromJson(
  input: unknown,
  context: TransactionContext,
  options?: ParseOptions,
): SealedTransaction {
  const { bytes, ...encoded } = encodeJson(input, context);
  // Step 4: the decoded bytes are the result.
  const sealed = parseBytes(bytes, context, options, encoded);
  // Values that change in the bytes would give an id that their sender does not know (transactions.md 9).
  if (!areEqual(sealed.bytes, bytes)) throw new TransactionError("TransactionEncodingError", CHANGES);
  return sealed;
}

/**
 * Parses untrusted bytes, canonical or not.
 *
 * @throws {TransactionError} TransactionVersionError, TransactionSchemaError,
 *   DuplicateParticipantInMultiSignatureError, and InvalidTransactionBytesError for everything else
 */
export function transactionFromBytes(
  bytes: Uint8Array,
  context: TransactionContext,
  options: ParseOptions = {},
): SealedTransaction {
  return parseBytes(bytes, context, options);
}

/**
 * Parses untrusted bytes in a block. The network encodes what it decoded, and keeps what it decodes from that (blocks.md 6): lengths
 * of texts may mean something else the second time (trap A24).
 *
 * @throws {TransactionError} as `transactionFromBytes`
 */
export function transactionFromBlock(
  bytes: Uint8Array,
  context: TransactionContext,
  options: ParseOptions = {},
): SealedTransaction {
  const first = parseBytes(bytes, context, options);
  // Trap A29: the schema has removed ports from the asset.
  const isReduced = first.data.typeGroup === TYPE_GROUPS.magistrate;
  const canonical = isReduced ? encodeTransaction(first.data) : first.bytes;
  if (areEqual(canonical, bytes)) return first;
  const second = parseBytes(canonical, context, options);
  // The bytes that a node stores and sends must be those of the transaction.
  if (areEqual(second.bytes, canonical)) return second;
  throw new TransactionError("InvalidTransactionBytesError", CHANGES);
}

const CHANGES = "the transaction changes when it is encoded and decoded";

function areEqual(some: Uint8Array, others: Uint8Array): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false;
  return true;
}

/** The input of the encoder; `hasSchema` is true if the strict schema accepted it, without an exception. */
type EncodedBody = { readonly body: TransactionBody; readonly hasSchema: boolean };

/** Steps 1 to 3. Input that cannot be encoded has an error of its own (transactions.md 9). */
function encodeJson(
  input: unknown,
  context: TransactionContext,
): EncodedBody & { readonly bytes: Uint8Array } {
  try {
    const type = typeOfJson(input);
    const transaction = copyJson(input) as Record<string, unknown>;
    // Step 2: the strict schema, which rewrites the copy.
    const hasSchema = checkSchema(transaction, type, context);
    // Step 3. The encoder performs the checks that the schema lacks.
    const body = bodyOfJson(transaction, context);
    return { body, hasSchema, bytes: encodeTransaction(body) };
  } catch (cause) {
    if (cause instanceof TransactionError) throw cause;
    const message = `the transaction cannot be written as bytes: ${messageOf(cause)}`;
    throw new TransactionError("TransactionEncodingError", message, { cause });
  }
}

/** @param encoded the body whose encoding the bytes are, if this node encoded them */
function parseBytes(
  bytes: Uint8Array,
  context: TransactionContext,
  { checkSignature = true }: ParseOptions = {},
  encoded?: EncodedBody,
): SealedTransaction {
  try {
    // Step 1.
    const body = decodeTransaction(bytes);
    const type = typeOf(body);
    // Steps 2 and 3: the id is the hash of the canonical bytes.
    checkBody(body, type, context);
    // The same members have the same bytes and, with the id over these bytes, the same verdict of the schema.
    const isSame = encoded !== undefined && isSameBody(body, encoded.body);
    const sealed = seal(body, isSame ? bytes : encodeTransaction(body), context);
    // Step 4.
    if (!isSame || !encoded.hasSchema) checkSchema(sealed.data, type, context);
    checkTexts(body);
    // Step 5.
    return checkSignature ? { ...sealed, isVerified: isVerified(sealed, context) } : sealed;
  } catch (error) {
    throw toBytesError(error);
  }
}

/** Converts an error of reading bytes. */
function toBytesError(error: unknown): unknown {
  if (error instanceof TransactionError && error.code !== "UnkownTransactionError") return error;
  const message = `the bytes are not a transaction: ${messageOf(error)}`;
  return new TransactionError("InvalidTransactionBytesError", message, { cause: error });
}

/** The type of a transaction that was decoded, which fails for unknown types. */
const typeOf = ({ typeGroup, type }: TransactionBody): TransactionType =>
  present(findTransactionType(typeGroup, type), "the transaction type");

/** Version and recipients. */
function checkBody(body: TransactionBody, type: TransactionType, context: TransactionContext): void {
  // Version 0 counts as absent, which means 1, but it is read in the layout of version 2: no such hash exists.
  if (body.version === 0) throw new RangeError("a transaction of version 0 has no timestamp");
  const version = milestoneOf(context).aip11 ? 2 : 1;
  if (body.version !== version) {
    throw new TransactionError(
      "TransactionVersionError",
      `version ${body.version} is not in force, only version ${version}`,
    );
  }
  if (type.checksRecipientNetwork && version === 2) checkRecipientNetworks(body, context);
}

/** Trap A25. */
function checkTexts({ asset }: TransactionBody): void {
  if (hasZeroCharacter(asset)) throw new RangeError("a text of the asset contains the character U+0000");
}

const hasZeroCharacter = (value: unknown): boolean =>
  typeof value === "string"
    ? value.includes("\0")
    : typeof value === "object" && value !== null && Object.entries(value).flat().some(hasZeroCharacter);

/**
 * A transaction that was read before, maybe under other rules, as `transactionFromBytes` without `checkSignature`
 * reads its bytes under the rules of the context. Nothing is encoded or decoded.
 *
 * @throws {TransactionError} as `transactionFromBytes`
 */
export function recheckTransaction(
  { data: { id, ...body }, bytes }: SealedTransaction,
  context: TransactionContext,
): SealedTransaction {
  try {
    const type = typeOf(body);
    checkBody(body, type, context);
    const data = { ...body, id };
    checkSchema(data, type, context);
    checkTexts(body);
    return { data, bytes, isVerified: false };
  } catch (error) {
    throw toBytesError(error);
  }
}

/**
 * Reads trusted data without checks. The transaction counts as verified.
 *
 * @param id computed from the canonical bytes if absent
 * @throws {Error} if the bytes do not match a layout
 */
export function sealedFromTrustedBytes(bytes: Uint8Array, id?: string): SealedTransaction {
  const body = decodeTransaction(bytes);
  if (id !== undefined) return { data: { ...body, id }, bytes, isVerified: true };
  return { data: { ...body, id: transactionId(body) }, bytes: encodeTransaction(body), isVerified: true };
}

/**
 * The type of two numbers in JSON; an absent group is 1. The old node looks them up as text,
 * so a number inside a text finds its type, and the schema refuses it.
 */
function typeOfJson(input: unknown): TransactionType {
  const { typeGroup = TYPE_GROUPS.core, type } = (input ?? {}) as Record<string, unknown>;
  const found = findTransactionType(typeGroup as number, type as number);
  if (!found) throw unknownType(typeGroup, type);
  return found;
}

/** The members that the encoder needs and the schema does not require. */
function bodyOfJson(transaction: Record<string, unknown>, { network }: TransactionContext): TransactionBody {
  const body = transaction as TransactionBody & { signSignature?: string };
  const secondSignature = body.secondSignature ?? body.signSignature;
  return {
    ...body,
    version: body.version ?? 1,
    typeGroup: body.typeGroup ?? TYPE_GROUPS.core,
    network: body.network ?? network.description.pubKeyHash,
    ...(secondSignature !== undefined && { secondSignature }),
  };
}

/** Returns false if only an exception of the chain's history lets the transaction pass. */
function checkSchema(
  transaction: Record<string, unknown>,
  type: TransactionType,
  context: TransactionContext,
): boolean {
  const violation = strictViolation(transaction, type, context);
  if (!violation) return true;
  if (isExceptional(context, transaction.id)) return false;
  const { path, expectation } = violation;
  throw new TransactionError(
    "TransactionSchemaError",
    `${type.key}: ${path || "the transaction"} ${expectation}`,
    { violation },
  );
}

/** Every recipient of the types that compare (transactions.md 6.2). */
function checkRecipientNetworks({ recipientId, asset }: TransactionBody, { network }: TransactionContext) {
  const recipients = asset?.payments?.map((payment) => payment.recipientId) ?? [
    present(recipientId, "recipientId"),
  ];
  for (const recipient of recipients) {
    if (addressPayload(recipient)[0] !== network.description.pubKeyHash) {
      throw new RangeError(`the recipient ${recipient} belongs to another network`);
    }
  }
}

/** The decoded transaction with its canonical bytes and the id over them, not verified yet. */
function seal(body: TransactionBody, bytes: Uint8Array, { network }: TransactionContext): SealedTransaction {
  const computed = body.version === 1 ? transactionId(body) : sha256Hex(bytes);
  const id = network.exceptions.transactionIdFixTable?.[computed] ?? computed;
  return { data: { ...body, id }, bytes, isVerified: false };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
