/** `/blockchain` (http-api.md 6.1) and `/rounds` (http-api.md 6.9). */
import { Type } from "../../platform/json/schema.ts";
import { present } from "../../platform/present.ts";
import type { Snapshot } from "../../read/port.ts";
import type { Api, Resource } from "../core/api.ts";
import { notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { amount, blockId, count, integer, publicKey, wholeAmount } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { hours, positive, query } from "../requests/parameters.ts";

const Blockchain = Type.Object({
  block: Type.Object({ height: Type.Integer({ minimum: 1 }), id: blockId }),
  supply: wholeAmount,
});
const schema = described(
  "Blockchain",
  "Returns the last block and the supply of tokens.",
  single(Blockchain),
);

/** Prefix of an id; fewer characters would match too much. */
const prefix = Type.String({
  pattern: "^[0-9A-Za-z]{4,64}$",
  description: "At least 4 letters and digits, case-sensitive.",
});
const Identified = Type.Object({
  kind: Type.String({ enum: ["block", "transaction", "unik", "wallet"] }),
  id: Type.String({ description: "Id, or address if it is a wallet." }),
  height: Type.Optional(Type.Integer({ minimum: 1, description: "Height, if it is a block." })),
});
const identifiedSchema = described(
  "Blockchain",
  "Finds blocks, transactions, uniks and wallets whose id or address begins with a text; at most five of each kind.",
  single(Type.Array(Identified)),
  { params: Type.Object({ prefix }), querystring: query({}) },
);

/** Intervals of the activity, however long it is. */
const INTERVALS = 48;
const DEFAULT_HOURS = 24;
/** Blocks whose fees are added up for a response: 27 hours of blocks of 8 s. Counts need no such limit, because blocks store them. */
const MAX_SUMMED_BLOCKS = 12_000;

const Activity = Type.Object({
  intervalSeconds: Type.Integer({ minimum: 1 }),
  times: Type.Array(Type.Integer({ minimum: 0 }), {
    description: "Start of each interval, seconds since 1970, ascending. The head is in the last one.",
  }),
  blocks: Type.Array(count),
  transactions: Type.Array(count),
  missedSlots: Type.Array(count),
  fees: Type.Optional(Type.Array(amount, { description: "Absent if there are too many blocks to add up." })),
});
const activitySchema = {
  ...described(
    "Blockchain",
    "Counts blocks, transactions, missed slots and fees of the last hours, in 48 equal intervals.",
    single(Activity),
  ),
  querystring: query({ hours: Type.Optional(hours) }),
};

/** Counts what happened in equal intervals up to the head. They begin at multiples of their length, so that earlier ones do not change. */
export async function activityOf(
  { network, timestampOf }: Pick<Api, "network" | "timestampOf">,
  { head, blocks }: Pick<Snapshot, "head" | "blocks">,
  hours: number,
) {
  const intervalSeconds = (hours * 3_600) / INTERVALS;
  const last = Math.floor(head.timestamp / intervalSeconds);
  const edges = Array.from(
    { length: INTERVALS + 1 },
    (_, index) => (last - INTERVALS + 1 + index) * intervalSeconds,
  ).filter((edge) => edge >= 0);
  const before = await blocks.before(edges);
  const changes = (valueAt: (index: number) => number) =>
    edges.slice(1).map((_, index) => valueAt(index + 1) - valueAt(index));

  // The time between the first two blocks, possibly years, has no slots; those after the head are not known yet.
  const firstSlotTime = (await blocks.byHeight(2))?.timestamp ?? Number.POSITIVE_INFINITY;
  const { blocktime } = network.milestoneAt(1);
  const missedUntil = (index: number): number => {
    const time = Math.min(Math.max(present(edges[index]), firstSlotTime), head.timestamp + blocktime);
    return Math.ceil(time / blocktime) - Math.max(present(before[index]).blocks - 1, 0);
  };

  const heights = before.map(({ blocks }) => blocks + 1);
  const isSummed = present(heights.at(-1)) - present(heights[0]) <= MAX_SUMMED_BLOCKS;
  return {
    intervalSeconds,
    times: edges.slice(0, -1).map((edge) => timestampOf(edge).unix),
    blocks: changes((index) => present(before[index]).blocks),
    transactions: changes((index) => present(before[index]).transactions),
    // A block that is late in its slot can belong to the interval after it.
    missedSlots: changes(missedUntil).map((missed) => Math.max(missed, 0)),
    ...(isSummed && { fees: (await blocks.feesBetween(heights)).map(String) }),
  };
}

export const blockchain: Resource = (app, api) => {
  app.get("/blockchain/activity", { config: HEAD_ONLY, schema: activitySchema }, (request) =>
    api.read(request, async (snapshot) => ({
      data: await activityOf(api, snapshot, Number(request.query.hours ?? DEFAULT_HOURS)),
    })),
  );
  app.get("/blockchain", { config: HEAD_ONLY, schema }, (request) =>
    api.read(request, async ({ head, chain }) => ({
      data: {
        block: { height: head.height, id: head.id },
        supply: integer(`${await chain.supply()}`),
      },
    })),
  );
  app.get("/blockchain/identifiers/:prefix", { config: HEAD_ONLY, schema: identifiedSchema }, (request) =>
    api.read(request, async ({ chain }) => ({
      data: [...(await chain.beginningWith(request.params.prefix))],
    })),
  );
};

const RoundDelegate = Type.Object({ publicKey, votes: amount }, { title: "RoundDelegate" });
const roundSchema = described(
  "Rounds",
  "Lists the delegates of a round with their votes at its start, most votes first.",
  single(Type.Array(RoundDelegate)),
  { params: Type.Object({ id: positive }) },
);

export const rounds: Resource = (app, api) => {
  app.get("/rounds/:id/delegates", { config: HEAD_ONLY, schema: roundSchema }, (request) =>
    api.read(request, async ({ rounds }) => {
      const delegates = await rounds.delegates(Number(request.params.id));
      if (!delegates) throw notFound("ROUND_UNKNOWN", "Round");
      return {
        data: delegates
          .toSorted(byVotes)
          .map(({ publicKey, voteBalance }) => ({ publicKey, votes: voteBalance })),
      };
    }),
  );
};

type RoundDelegate = { readonly publicKey: string; readonly voteBalance: string };

/** Orders by votes, descending; delegates are stored by rank, which differs if types have their own ranks. */
function byVotes(a: RoundDelegate, b: RoundDelegate): number {
  const difference = BigInt(b.voteBalance) - BigInt(a.voteBalance);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return a.publicKey < b.publicKey ? -1 : 1;
}
