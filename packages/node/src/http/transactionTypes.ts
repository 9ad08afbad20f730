/** `/transactions/types`, `/transactions/schemas` and `/transactions/fees` (http-api.md 6.4). */
import { isTypeActive, type TransactionType, transactionTypes, typeStaticFee } from "@uniknode/protocol";
import type { Head } from "../store/queries/snapshot.ts";
import { ENTITY_FEES } from "./answers/fees.ts";
import { publishedSchema } from "./answers/schemas.ts";
import type { Resource } from "./api.ts";

export const transactionTypeLists: Resource = (app, { network, read }) => {
  /** One member for each active type, in an object for each group. */
  function byGroup<T>(head: Head, memberOf: (type: TransactionType) => readonly [name: string, value: T]) {
    const groups: Record<string, Record<string, T>> = {};
    for (const type of transactionTypes) {
      if (!isTypeActive(type.typeGroup, type.type, { network, height: head.height })) continue;
      const [name, value] = memberOf(type);
      groups[type.typeGroup] = { ...groups[type.typeGroup], [name]: value };
    }
    return groups;
  }

  app.get("/transactions/types", () =>
    read((head) => ({ data: byGroup(head, ({ key, type }) => [capitalised(key), type]) })),
  );

  app.get("/transactions/schemas", () =>
    read((head) => ({
      data: byGroup(head, ({ typeGroup, type }) => [`${type}`, publishedSchema(typeGroup, type)]),
    })),
  );

  app.get("/transactions/fees", () =>
    read((head) => {
      const milestone = network.milestoneAt(head.height);
      const fees = byGroup(head, (type) => [type.key, `${typeStaticFee(type, milestone)}`]);
      return { data: { ...fees, "2": ENTITY_FEES } };
    }),
  );
};

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
