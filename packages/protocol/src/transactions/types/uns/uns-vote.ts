/** 2001/5 vote (transactions.md 6.3). */
import { vote } from "../core/vote.ts";
import type { TransactionType } from "../type.ts";

export const unsVote: TransactionType = {
  ...vote,
  typeGroup: 2001,
  type: 5,
  key: "UnsVote",
  schema: { ...vote.schema, properties: { ...vote.schema.properties, typeGroup: { const: 2001 } } },
};
