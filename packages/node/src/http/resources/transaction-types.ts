/** `/transactions/types`, `/transactions/schemas` and `/transactions/fees` (http-api.md 6.4). */
import {
  isTypeActive,
  type TransactionType,
  TYPE_GROUPS,
  transactionTypes,
  typeStaticFee,
} from "@uniknode/protocol";
import { type TSchema, Type } from "../../platform/json/schema.ts";
import type { Head } from "../../read/port.ts";
import type { Resource } from "../core/api.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { amount, ENTITY_FEES } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { publishedSchema } from "../responses/schemas.ts";

const byGroupOf = <M extends TSchema>(member: M) =>
  single(Type.Record(Type.String(), Type.Record(Type.String(), member)));

export const transactionTypeLists: Resource = (app, api) => {
  const { network } = api;
  /** Returns an object per group with one member per active type. */
  function byGroup<T>(head: Head, memberOf: (type: TransactionType) => readonly [name: string, value: T]) {
    const groups: Record<string, Record<string, T>> = {};
    for (const type of transactionTypes) {
      if (!isTypeActive(type.typeGroup, type.type, { network, height: head.height })) continue;
      const [name, value] = memberOf(type);
      groups[type.typeGroup] = { ...groups[type.typeGroup], [name]: value };
    }
    return groups;
  }

  const types = described("Transactions", "Returns the active types by group.", byGroupOf(Type.Integer()));
  app.get("/transactions/types", { config: HEAD_ONLY, schema: types }, (request) =>
    api.read(request, async ({ head }) => ({
      data: byGroup(head, ({ key, type }) => [capitalised(key), type]),
    })),
  );

  const schemas = described(
    "Transactions",
    "Returns the schemas of active types by group.",
    byGroupOf(Type.Record(Type.String(), Type.Unknown())),
  );
  app.get("/transactions/schemas", { config: HEAD_ONLY, schema: schemas }, (request) =>
    api.read(request, async ({ head }) => ({
      data: byGroup(head, ({ typeGroup, type }) => [`${type}`, publishedSchema(typeGroup, type)]),
    })),
  );

  const fees = described(
    "Transactions",
    "Returns the static fees of active types by group.",
    byGroupOf(amount),
  );
  app.get("/transactions/fees", { config: HEAD_ONLY, schema: fees }, (request) =>
    api.read(request, async ({ head }) => {
      const milestone = network.milestoneAt(head.height);
      const fees = byGroup(head, (type) => [type.key, `${typeStaticFee(type, milestone)}`]);
      return { data: { ...fees, [TYPE_GROUPS.magistrate]: ENTITY_FEES } };
    }),
  );
};

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
