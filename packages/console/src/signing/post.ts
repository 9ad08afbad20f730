/** Submits signed transactions to the node and returns the outcomes. */
import { ApiError, type Client } from "@uniknode/client";
import { refusalText } from "../components/error-text.ts";
import type { OrderField } from "./order.ts";

type Reason = { readonly type: string; readonly message: string };

export type Posted = {
  readonly id: string;
  /** `uncertain`: the node did not respond, or received it before, and may have it; the same transaction can be sent again. */
  readonly became: "accepted" | "refused" | "uncertain";
  /** Message of the node, unless it accepted. */
  readonly reasons: readonly Reason[];
};

/** Submits one transaction. */
export async function postOne(api: Client, transaction: { readonly id: string }): Promise<Posted> {
  const [posted] = await post(api, [transaction]);
  if (!posted) throw new Error("no outcome of the transaction");
  return posted;
}

/** Returns the outcome of each transaction, in the same order. */
export async function post(
  api: Client,
  transactions: readonly { readonly id: string }[],
): Promise<readonly Posted[]> {
  try {
    const { data, errors = {} } = await api.transactions.submit(transactions);
    return transactions.map(({ id }) => ({
      id,
      became: data.accept.includes(id) ? "accepted" : becameOf(errors[id]),
      reasons: errors[id] ?? (data.excess.includes(id) ? [EXCESS] : []),
    }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const became = error.isRetryable && error.code !== "API_RATE_LIMITED" ? "uncertain" : "refused";
    const reasons = [{ type: error.code, message: refusalText(error) }];
    return transactions.map(({ id }) => ({ id, became, reasons }));
  }
}

/** A repeated submission has what it wants if a block contains the transaction; a node that received it before does not say why it refused it. */
function becameOf(reasons: readonly Reason[] = []): Posted["became"] {
  const types = reasons.map(({ type }) => type);
  if (types.includes("ERR_FORGED")) return "accepted";
  return types.includes("ERR_DUPLICATE") ? "uncertain" : "refused";
}

const EXCESS: Reason = {
  type: "ERR_EXCESS",
  message: "The sender has too many pending transactions. Try again after some of them are confirmed.",
};

export const reasonText = (reasons: readonly Reason[]): string =>
  reasons.map(({ message }) => message).join("; ") || "The node gave no reason.";

/** Returns the field that a refusal is about, from its message (pool.md 5). */
export const fieldOf = ({ reasons }: Posted): OrderField | undefined =>
  reasons
    .map(({ type, message }) => FIELDS.find(([words]) => words.test(`${type} ${message}`))?.[1])
    .find((field) => field !== undefined);

const FIELDS: readonly (readonly [RegExp, OrderField])[] = [
  [/ERR_LOW_FEE/, "fee"],
  [/\bnonce\b/i, "nonce"],
  [/second/i, "second"],
  [/certification signature/i, "certifier"],
  [/recipient/i, "to"],
  [/balance|funds/i, "amount"],
  [/\bvote|delegate/i, "delegate"],
  [/propert/i, "properties"],
  [/\btoken|\bnft\b|unik/i, "unik"],
];
