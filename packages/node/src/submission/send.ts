/** Sends a transaction, and waits until it is forged; names the reason if it is not, and adds what the sender can do. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  ApiError,
  type Client,
  type SingleTransaction,
  type Submission,
  type Transaction,
} from "@uniknode/client";
import { encodeTransaction, requiredFee, type Transaction as SignedTransaction } from "@uniknode/protocol";
import { tokensOf } from "./amounts.ts";
import { type Refusal, SendError, type Sender } from "./sender.ts";

/**
 * Posts a signed transaction in its JSON form. A transaction that the node has already is a success, whatever the node says
 * about the repetition: an error would invite the caller to create another one, and to pay twice.
 *
 * @returns the transaction as the node has it, in a block or pending, if it was sent before
 * @throws {SendError} SEND_REFUSED, SEND_EXCESS, SEND_UNCERTAIN
 * @throws {ApiError} when the node did not process it
 */
export async function post(
  client: Client,
  transaction: { readonly id: string },
): Promise<SingleTransaction | Transaction | undefined> {
  const { id } = transaction;
  const { data, errors = {} } = await submit(client, transaction);
  if (data.accept.includes(id)) return undefined;
  const known = await find(findTransaction(client, id));
  if (known) return known;
  if (data.excess.includes(id)) {
    throw new SendError(
      { code: "SEND_EXCESS", id },
      "the sender has too many pending transactions; send it again after some are forged",
    );
  }
  const reasons = errors[id] ?? [];
  // The node does not check an id twice between two blocks, and does not repeat why it refused it first.
  if (reasons.some(({ type }) => type === "ERR_DUPLICATE")) {
    throw new SendError(
      { code: "SEND_UNCERTAIN", id },
      `the node received ${id} since its last block and will not check it again before the next one; send it again then`,
    );
  }
  throw refusal({ code: "SEND_REFUSED", id, reasons });
}

/** The error of a refused transaction; `explanation` comes before the reasons of the node. */
function refusal(type: Refusal, explanation = ""): SendError {
  const texts = type.reasons.map(({ type, message }) => `${message} (${type})`);
  return new SendError(type, `the node refused ${type.id}: ${explanation}${texts.join("; ")}`);
}

async function submit(client: Client, transaction: { readonly id: string }): Promise<Submission> {
  try {
    return await client.transactions.submit([transaction]);
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isRetryable || error.code === "API_RATE_LIMITED") throw error;
    const { id } = transaction;
    throw new SendError(
      { code: "SEND_UNCERTAIN", id, cause: error },
      `${error.message}; the node may have accepted ${id}: check with "uniknode tx show" before you send another one`,
    );
  }
}

/** Blocks above the head of the node with the pool that must lack a transaction. */
const ABSENT_BLOCKS = 3;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;

/**
 * The transaction once it is in a block.
 *
 * @throws {SendError} SEND_DROPPED, SEND_STILL_WAITING, SEND_UNCERTAIN
 * @throws {ApiError}
 */
export async function waitUntilForged(
  client: Client,
  id: string,
  timeoutMs: number,
): Promise<SingleTransaction> {
  const startedMs = performance.now();
  let absentFrom: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const isPending = await find(client.transactions.getUnconfirmed(id));
    // Requested second: a transaction that has left the pool is in a block of the node by now.
    const forged = await find(client.transactions.get(id));
    if (forged) return forged.data;
    // The head of the node, which has the pool, and then that of the server, which can be a mirror with fewer blocks.
    absentFrom = isPending ? undefined : (absentFrom ?? (await client.node.status()).data.now);
    const isAbsent =
      absentFrom !== undefined &&
      (await client.blockchain.get()).data.block.height >= absentFrom + ABSENT_BLOCKS;
    if (isAbsent) {
      throw new SendError({ code: "SEND_DROPPED", id }, `${id} left the pool without being forged`);
    }
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= timeoutMs) {
      if (!isPending) {
        throw new SendError(
          { code: "SEND_UNCERTAIN", id },
          `it is uncertain whether ${id} was forged: it left the pool, and is in no block that this server has; check with "uniknode tx show" before you send another one`,
        );
      }
      throw new SendError(
        { code: "SEND_STILL_WAITING", id, waitedMs },
        `${id} was not forged within ${timeoutMs / 1_000} s; it is still pending and may be forged later`,
      );
    }
    await sleep(pauseMs);
  }
}

/**
 * A transaction of the chain, or else of the pool.
 *
 * @throws {ApiError} API_NOT_FOUND when it is in neither
 */
export async function findTransaction(client: Client, id: string): Promise<SingleTransaction | Transaction> {
  const forged = await find(client.transactions.get(id));
  if (forged) return forged.data;
  const pending = await find(client.transactions.getUnconfirmed(id));
  // It may have been forged between the two requests.
  return (pending ?? (await client.transactions.get(id))).data;
}

async function find<Result>(request: Promise<Result>): Promise<Result | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.code === "API_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Amounts and fee of a transaction, in the smallest unit. */
const requiredUnits = ({ amount, fee, asset }: SignedTransaction): bigint =>
  (asset?.payments ?? []).reduce((sum, payment) => sum + payment.amount, amount + fee);

type Context = Pick<Sender, "address" | "client" | "wallet" | "network" | "envelope">;

/** A refusal with the cause, if it is the fee or the balance; any other error is returned unchanged. */
export async function explainRefusal(
  error: unknown,
  transaction: SignedTransaction,
  sender: Context,
): Promise<unknown> {
  if (!(error instanceof SendError)) return error;
  const { type } = error;
  if (type.code !== "SEND_REFUSED") return error;
  if (type.reasons.some((reason) => reason.type === "ERR_LOW_FEE")) {
    return refusal(type, await explainFee(transaction, sender));
  }
  return explainShortage(type, transaction, sender) ?? error;
}

/** The node does not name the fee, because its responses are those of old nodes. */
async function explainFee(
  transaction: SignedTransaction,
  { client, network, envelope }: Context,
): Promise<string> {
  const { dynamicFees } = (await client.node.configuration()).data.transactionPool;
  const { length } = encodeTransaction(transaction);
  const fee = requiredFee(transaction, length, network.milestoneAt(envelope.height), dynamicFees);
  const least = dynamicFees.enabled ? "at least " : "";
  return `the fee must be ${least}${tokensOf(fee)} ${network.description.client.symbol}; without --fee, it is the usual one: `;
}

/** Wallets that cannot pay: a mistyped passphrase is the passphrase of another, empty wallet. */
function explainShortage(
  type: Refusal,
  transaction: SignedTransaction,
  { address, wallet, network }: Context,
): SendError | undefined {
  const balance = BigInt(wallet?.balance ?? 0);
  const required = requiredUnits(transaction);
  const isShort = balance < required;
  if (!isShort && !type.reasons.some(({ message }) => /insufficient balance/i.test(message)))
    return undefined;
  const { symbol } = network.description.client;
  const pending = isShort ? "" : ", minus its pending transactions";
  return refusal(
    type,
    `insufficient balance: wallet ${address} has ${tokensOf(balance)} ${symbol}${pending} but needs ` +
      `${tokensOf(required)} ${symbol}; fund the wallet first, or check the passphrase: `,
  );
}
