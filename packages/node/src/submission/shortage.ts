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
  const pending = isShort ? "" : ", less what its pending transactions spend";
  return refusal(
    error.type,
    `the passphrase is that of wallet ${address}, which has ${tokensOf(balance)} ${symbol}${pending} and needs ` +
      `${tokensOf(required)} ${symbol}; check the passphrase, or pay the wallet first: `,
  );
}
