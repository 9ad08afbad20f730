/** The switches that a network's configuration has for single types (transactions-rules.md section 1). */
import type { Network } from "@uniknode/protocol";

/** Whether a type is allowed by `transactionsConfig`; absent means yes. Only some types obey it. */
export const isSwitchedOn = ({ description }: Network, key: string): boolean =>
  description.transactionsConfig?.[key]?.enable ?? true;
