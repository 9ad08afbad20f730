/** `/node` (http-api.md 6.2): what clients set themselves up with. */
import { isTypeActive, transactionKey, transactionTypes } from "@uniknode/protocol";
import { Type } from "typebox";
import type { FeePolicy } from "../pool/fees.ts";
import type { FeeStatistics } from "../store/queries/fees.ts";
import { ENTITY_FEES } from "./answers/fees.ts";
import type { Api, Resource } from "./api.ts";
import { query } from "./requests/parameters.ts";

/** Days of `GET /node/fees`, at most 30. */
const days = Type.String({ pattern: "^0*([1-9]|[12][0-9]|30)$" });

/** Transactions of each type that the fees without a period are taken from. */
const LAST_COUNT = 20;
const MS_PER_DAY = 86_400_000;

const ENTITY_STATISTICS = Object.fromEntries(
  Object.entries(ENTITY_FEES).map(([key, fee]) => [key, { avg: fee, max: fee, min: fee, sum: "0" }]),
);
const NO_FEES: FeeStatistics = { avg: "0", max: "0", min: "0", sum: "0" };

export const node: Resource = (app, api) => {
  const { gateway, identity, network, read } = api;

  app.get("/node/status", async () => ({ data: await gateway.status() }));

  app.get("/node/syncing", async () => {
    const { synced, blocksCount } = await gateway.status();
    return read(({ height, id }) => ({ data: { syncing: !synced, blocks: blocksCount, height, id } }));
  });

  app.get("/node/configuration", () => {
    const { nethash, slip44, wif, client, pubKeyHash } = network.description;
    return read((head) => ({
      data: {
        core: { version: identity.version },
        nethash,
        slip44,
        wif,
        token: client.token,
        symbol: client.symbol,
        explorer: client.explorer,
        version: pubKeyHash,
        ports: identity.ports,
        constants: network.milestoneAt(head.height),
        transactionPool: { dynamicFees: dynamicFees(identity.feePolicy) },
      },
    }));
  });

  const { genesisBlock } = identity;
  // Large and always the same: made into text once.
  const cryptoConfiguration = JSON.stringify({
    data: {
      exceptions: network.exceptions,
      genesisBlock: { ...genesisBlock, transactions: withTypeGroups(genesisBlock.transactions) },
      milestones: network.milestones,
      network: network.description,
    },
  });
  app.get("/node/configuration/crypto", (_request, reply) =>
    reply.type("application/json; charset=utf-8").send(cryptoConfiguration),
  );

  app.get("/node/fees", { schema: { querystring: query({ days: Type.Optional(days) }) } }, (request) => {
    const period = request.query.days === undefined ? undefined : Number(request.query.days);
    return period === undefined
      ? { meta: {}, data: lastFees(api) }
      : { meta: { days: period }, data: feesOfPeriod(api, period) };
  });
};

const dynamicFees = ({ dynamic, minFeePool, minFeeBroadcast, addonBytes }: FeePolicy) =>
  dynamic ? { enabled: true, minFeePool, minFeeBroadcast, addonBytes } : { enabled: false };

/** Genesis files leave out the group of core types; clients want it said. */
const withTypeGroups = (transactions: unknown): unknown =>
  Array.isArray(transactions)
    ? transactions.map((transaction) => ({ typeGroup: 1, ...transaction }))
    : transactions;

type FeesByGroup = Record<string, Record<string, FeeStatistics>>;

const lastFees = ({ network, queries, read }: Api): FeesByGroup =>
  read((head) =>
    byGroup(
      transactionTypes
        .filter(({ typeGroup, type }) => isTypeActive(typeGroup, type, { network, height: head.height }))
        .map(({ typeGroup, type, key }) => {
          const fees = queries.fees.ofLast(LAST_COUNT, typeGroup, type) ?? NO_FEES;
          return { typeGroup, key, fees };
        }),
    ),
  );

const feesOfPeriod = ({ identity, queries, read, network, nowMs }: Api, period: number): FeesByGroup =>
  read((head) => {
    const epochMs = Date.parse(network.milestoneAt(1).epoch);
    const since = Math.floor((nowMs() - period * MS_PER_DAY - epochMs) / 1000);
    const height = queries.blocks.heightAt(since, head);
    return byGroup(
      queries.fees
        .since(height, identity.feePolicy.minFeeBroadcast)
        .map(({ typeGroup, type, ...fees }) => ({ typeGroup, key: transactionKey(typeGroup, type), fees })),
    );
  });

function byGroup(types: readonly { typeGroup: number; key: string; fees: FeeStatistics }[]): FeesByGroup {
  const groups: FeesByGroup = {};
  for (const { typeGroup, key, fees } of types) groups[typeGroup] = { ...groups[typeGroup], [key]: fees };
  return { ...groups, "2": ENTITY_STATISTICS };
}
