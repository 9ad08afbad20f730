/** `/node/fees` (http-api.md 6.2): statistics of paid fees. */
import { isTypeActive, transactionKey, transactionTypes } from "@uniknode/protocol";
import { DAY_MS } from "../../platform/clock/durations.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Snapshot } from "../../read/port.ts";
import type { FeeStatistics } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { amount, ENTITY_FEES } from "../core/values.ts";
import { described } from "../documentation/route.ts";
import { days, query } from "../requests/parameters.ts";

const Statistics = Type.Object(
  { avg: amount, max: amount, min: amount, sum: amount },
  { title: "FeeStatistics" },
);
const Fees = Type.Object({
  meta: Type.Object({ days: Type.Optional(Type.Integer()) }),
  data: Type.Record(Type.String(), Type.Record(Type.String(), Statistics)),
});

/** Number of transactions of each type for fee statistics without a period. */
const LAST_COUNT = 20;

const ENTITY_STATISTICS = Object.fromEntries(
  Object.entries(ENTITY_FEES).map(([key, fee]) => [key, { avg: fee, max: fee, min: fee, sum: "0" }]),
);
const NO_FEES: FeeStatistics = { avg: "0", max: "0", min: "0", sum: "0" };

export function addFees(app: Server, api: Api): void {
  app.get(
    "/node/fees",
    {
      schema: {
        ...described(
          "Node",
          "Returns statistics of paid fees: of the last days, or of the last transactions of each type.",
          Fees,
        ),
        querystring: query({ days: Type.Optional(days) }),
      },
    },
    (request) => {
      const period = request.query.days === undefined ? undefined : Number(request.query.days);
      return api.read(request, async (snapshot) =>
        period === undefined
          ? { meta: {}, data: await lastFees(api, snapshot) }
          : { meta: { days: period }, data: await feesOfPeriod(api, snapshot, period) },
      );
    },
  );
}

type FeesByGroup = Record<string, Record<string, FeeStatistics>>;

async function lastFees({ network }: Api, { head, fees }: Snapshot): Promise<FeesByGroup> {
  const active = transactionTypes.filter(({ typeGroup, type }) =>
    isTypeActive(typeGroup, type, { network, height: head.height }),
  );
  return byGroup(
    await Promise.all(
      active.map(async ({ typeGroup, type, key }) => ({
        typeGroup,
        key,
        fees: (await fees.ofLast(LAST_COUNT, typeGroup, type)) ?? NO_FEES,
      })),
    ),
  );
}

async function feesOfPeriod(
  { identity, network, nowMs }: Api,
  { blocks, fees }: Snapshot,
  period: number,
): Promise<FeesByGroup> {
  const epochMs = Date.parse(network.milestoneAt(1).epoch);
  const since = Math.floor((nowMs() - period * DAY_MS - epochMs) / 1000);
  const paid = await fees.since(await blocks.heightAt(since), identity.feePolicy.minFeeBroadcast);
  return byGroup(
    paid.map(({ typeGroup, type, ...fees }) => ({ typeGroup, key: transactionKey(typeGroup, type), fees })),
  );
}

function byGroup(types: readonly { typeGroup: number; key: string; fees: FeeStatistics }[]): FeesByGroup {
  const groups: FeesByGroup = {};
  for (const { typeGroup, key, fees } of types) groups[typeGroup] = { ...groups[typeGroup], [key]: fees };
  return { ...groups, "2": ENTITY_STATISTICS };
}
