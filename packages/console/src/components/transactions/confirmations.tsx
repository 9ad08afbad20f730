/** Confirmation state of a transaction. */
import type { Transaction } from "@uniknode/client";
import { Badge } from "../badge.tsx";
import { countOfText } from "../format.ts";

export type ConfirmationsProps = { readonly transaction: Transaction; readonly wasConfirmed: boolean };

export function Confirmations({ transaction: { blockId, confirmations }, wasConfirmed }: ConfirmationsProps) {
  if (wasConfirmed && !blockId) return <Badge tone="bad">its block was reverted; pending again</Badge>;
  if (!blockId) return <Badge tone="warning">waits in the pool</Badge>;
  return <Badge tone="good">{countOfText(confirmations, "confirmations")}</Badge>;
}
