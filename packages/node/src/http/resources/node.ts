/** `/node` (http-api.md 6.2): configuration for clients, and statistics of paid fees. */
import { isTypeActive, TYPE_GROUPS, transactionKey, transactionTypes } from "@uniknode/protocol";
import { DAY_MS } from "../../platform/clock/durations.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Snapshot } from "../../read/port.ts";
import type { FeeStatistics } from "../../read/rows.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { amount, blockId, ENTITY_FEES } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { days, query } from "../requests/parameters.ts";
import { CryptoConfiguration, DynamicFees, dynamicFeesFrom } from "../responses/node-configuration.ts";

const SyncProgress = Type.Object(
  {
    target: Type.Integer({ description: "Height of the network according to its peers." }),
    percent: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: "Percentage of the network's blocks that the node has.",
    }),
    blocksPerSecond: Type.Integer(),
    secondsLeft: Type.Optional(Type.Integer({ description: "Absent while the speed is unknown." })),
  },
  { title: "SyncProgress", description: "Only while the node is synchronising." },
);
const AssumedBlock = Type.Object(
  {
    height: Type.Integer(),
    id: blockId,
    uncheckedFrom: Type.Optional(
      Type.Integer({ description: "First block whose signatures were not checked." }),
    ),
  },
  {
    title: "AssumedBlock",
    description: "Block up to which signatures are not checked; only while the chain is below it.",
  },
);
const Status = Type.Object(
  {
    synced: Type.Boolean(),
    now: Type.Integer({ description: "Height of the head." }),
    blocksCount: Type.Integer({ description: "Blocks that the node is behind the network." }),
    timestamp: Type.Integer({ description: "Network time, in seconds since its epoch." }),
    progress: Type.Optional(SyncProgress),
    futureHead: Type.Optional(
      Type.String({ description: "When a block can follow the head; only while it is in the future." }),
    ),
    assumeValid: Type.Optional(AssumedBlock),
  },
  { title: "NodeStatus" },
);
const Syncing = Type.Object(
  {
    syncing: Type.Boolean(),
    blocks: Type.Integer(),
    height: Type.Integer(),
    id: blockId,
    progress: Type.Optional(SyncProgress),
  },
  { title: "NodeSyncing" },
);
const Configuration = Type.Object(
  {
    core: Type.Object({ version: Type.String() }),
    nethash: Type.String(),
    slip44: Type.Integer(),
    wif: Type.Integer(),
    token: Type.String(),
    symbol: Type.String(),
    explorer: Type.String(),
    version: Type.Integer({ description: "First byte of addresses." }),
    ports: Type.Record(Type.String(), Type.Integer()),
    constants: Type.Unsafe<object>(
      Type.Record(Type.String(), Type.Unknown(), { description: "The active milestone." }),
    ),
    transactionPool: Type.Object({ dynamicFees: DynamicFees }),
    history: Type.Optional(
      Type.Object(
        { since: Type.Integer({ minimum: 1, description: "Lowest height for `at`." }) },
        { description: "Only if the node has earlier states." },
      ),
    ),
  },
  { title: "NodeConfiguration" },
);

export const node: Resource = (app, api) => {
  addStatus(app, api);
  addSyncing(app, api);
  addConfiguration(app, api);
  addPreset(app, api);
  addFees(app, api);
};

function addStatus(app: Server, { gateway }: Api): void {
  app.get(
    "/node/status",
    { schema: described("Node", "Returns height and sync state of the node.", single(Status)) },
    async () => {
      const { finalBlock: _, isIsolated: _isIsolated, ...data } = await gateway.status();
      return { data };
    },
  );
}

function addSyncing(app: Server, api: Api): void {
  app.get(
    "/node/syncing",
    { schema: described("Node", "Returns whether the node is catching up.", single(Syncing)) },
    async (request) => {
      const { synced, blocksCount, progress } = await api.gateway.status();
      const { height, id } = await api.read(request, async ({ head }) => head);
      return { data: { syncing: !synced, blocks: blocksCount, height, id, ...(progress && { progress }) } };
    },
  );
}

function addConfiguration(app: Server, api: Api): void {
  const { identity, network } = api;
  app.get(
    "/node/configuration",
    {
      config: HEAD_ONLY,
      schema: described("Node", "Returns the network and the active milestone.", single(Configuration)),
    },
    (request) => {
      const { nethash, slip44, wif, client, pubKeyHash } = network.description;
      return api.read(request, async ({ head, history }) => ({
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
          transactionPool: { dynamicFees: dynamicFeesFrom(identity.feePolicy) },
          ...historyMember(await history?.since()),
        },
      }));
    },
  );
}

const historyMember = (since: number | undefined) => (since === undefined ? {} : { history: { since } });

function addPreset(app: Server, api: Api): void {
  const { network } = api;
  const { genesisBlock } = api.identity;
  const cryptoConfiguration = {
    data: {
      exceptions: network.exceptions,
      genesisBlock: { ...genesisBlock, transactions: withTypeGroups(genesisBlock.transactions) },
      milestones: network.milestones,
      network: network.description,
    },
  };
  const crypto = described(
    "Node",
    "Returns the complete preset of the network, with its genesis block.",
    single(CryptoConfiguration),
  );
  app.get("/node/configuration/crypto", { config: HEAD_ONLY, schema: crypto }, (request) =>
    api.read(request, async () => cryptoConfiguration),
  );
}

/** Adds the group of core types, which genesis files omit but clients expect. */
const withTypeGroups = (transactions: unknown): unknown =>
  Array.isArray(transactions)
    ? transactions.map((transaction) => ({ typeGroup: TYPE_GROUPS.core, ...transaction }))
    : transactions;

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

function addFees(app: Server, api: Api): void {
  app.get(
    "/node/fees",
    {
      schema: described(
        "Node",
        "Returns statistics of paid fees: of the last days, or of the last transactions of each type.",
        Fees,
        { querystring: query({ days: Type.Optional(days) }) },
      ),
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
