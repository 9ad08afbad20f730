/** Refusals of wallets that cannot pay: a mistyped passphrase is the passphrase of another, empty wallet. */
import type { Transaction } from "@uniknode/protocol";
import { tokensOf } from "./amounts.ts";
import { SendError } from "./error.ts";
import { refusal } from "./send.ts";
import type { Sender } from "./sender.ts";

/** Amounts and fee of a transaction, in the smallest unit. */
const requiredUnits = ({ amount, fee, asset }: Transaction): bigint =>
  (asset?.payments ?? []).reduce((sum, payment) => sum + payment.amount, amount + fee);

/** A refusal with wallet, balance and required amount, if the wallet cannot pay; any other error is returned unchanged. */
export function explainShortage(
  error: unknown,
  transaction: Transaction,
  { address, wallet, network }: Pick<Sender, "address" | "wallet" | "network">,
): unknown {
  if (!(error instanceof SendError) || error.type.code !== "SEND_REFUSED") return error;
  const balance = BigInt(wallet?.balance ?? 0);
  const required = requiredUnits(transaction);
  const isShort = balance < required;
  if (!isShort && !error.type.reasons.some(({ message }) => /insufficient balance/i.test(message)))
    return error;
  const { symbol } = network.description.client;
  const pending = isShort ? "" : ", minus its pending transactions";
  return refusal(
    error.type,
    `insufficient balance: wallet ${address} has ${tokensOf(balance)} ${symbol}${pending} but needs ` +
      `${tokensOf(required)} ${symbol}; fund the wallet first, or check the passphrase: `,
  );
}
