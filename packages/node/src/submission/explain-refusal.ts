/** Adds to the refusal of a node what the sender can do. */
import { encodeTransaction, requiredFee, type Transaction } from "@uniknode/protocol";
import { tokensOf } from "./amounts.ts";
import { type Refusal, SendError } from "./error.ts";
import { refusal } from "./send.ts";
import type { Sender } from "./sender.ts";

/** Amounts and fee of a transaction, in the smallest unit. */
const requiredUnits = ({ amount, fee, asset }: Transaction): bigint =>
  (asset?.payments ?? []).reduce((sum, payment) => sum + payment.amount, amount + fee);

type Context = Pick<Sender, "address" | "client" | "wallet" | "network" | "envelope">;

/** A refusal with the cause, if it is the fee or the balance; any other error is returned unchanged. */
export async function explainRefusal(
  error: unknown,
  transaction: Transaction,
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
async function explainFee(transaction: Transaction, { client, network, envelope }: Context): Promise<string> {
  const { dynamicFees } = (await client.node.configuration()).data.transactionPool;
  const { length } = encodeTransaction(transaction);
  const fee = requiredFee(transaction, length, network.milestoneAt(envelope.height), dynamicFees);
  const least = dynamicFees.enabled ? "at least " : "";
  return `the fee must be ${least}${tokensOf(fee)} ${network.description.client.symbol}; without --fee, it is the usual one: `;
}

/** Wallets that cannot pay: a mistyped passphrase is the passphrase of another, empty wallet. */
function explainShortage(
  type: Refusal,
  transaction: Transaction,
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
