/** 2001/5 vote (transactions.md 6.3). */
import { TYPE_GROUPS } from "../../type-groups.ts";
import { vote } from "../core/vote.ts";
import type { TransactionType } from "../type.ts";

export const unsVote: TransactionType = {
  ...vote,
  typeGroup: TYPE_GROUPS.uns,
  type: 5,
  key: "UnsVote",
  schema: {
    ...vote.schema,
    properties: { ...vote.schema.properties, typeGroup: { const: TYPE_GROUPS.uns } },
  },
};
