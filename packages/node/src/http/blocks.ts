/** `/blocks` (http-api.md 6.3). */
import { Type } from "typebox";
import { BLOCK_ORDERS, type BlockOrder, type StoredBlock } from "../store/queries/blocks.ts";
import type { Head } from "../store/queries/snapshot.ts";
import { blockAnswer, type CreatedRewards, rawBlockAnswer } from "./answers/block.ts";
import type { Api, Resource } from "./api.ts";
import { listAnswer, pageOf, pageQuery } from "./requests/pagination.ts";
import {
  blockId,
  orderBy,
  orderOf,
  positive,
  publicKey,
  query,
  transformQuery,
  uint,
  wantsTransform,
} from "./requests/parameters.ts";
import { createdRewards } from "./rewards.ts";
import { notFound } from "./transport/error.ts";

const listQuery = query({
  ...pageQuery,
  ...transformQuery,
  orderBy: Type.Optional(orderBy(...BLOCK_ORDERS)),
  id: Type.Optional(blockId),
  version: Type.Optional(uint),
  timestamp: Type.Optional(uint),
  previousBlock: Type.Optional(blockId),
  height: Type.Optional(positive),
  numberOfTransactions: Type.Optional(uint),
  totalAmount: Type.Optional(uint),
  totalFee: Type.Optional(uint),
  reward: Type.Optional(uint),
  generatorPublicKey: Type.Optional(publicKey),
});

const DEFAULT_ORDER: BlockOrder = { field: "height", direction: "desc" };

export const blocks: Resource = (app, api) => {
  const { queries, read } = api;

  app.get("/blocks", { schema: { querystring: listQuery } }, (request) => {
    const page = pageOf(request.query);
    const order = (orderOf(request.query.orderBy) as BlockOrder | undefined) ?? DEFAULT_ORDER;
    return read((head) => {
      const { rows, totalCount } = queries.blocks.list(request.query, order, page);
      const data = rows.map((block) => show(api, head, block, request.query));
      return listAnswer(request, page, { rows: data, totalCount });
    });
  });

  app.get("/blocks/first", { schema: { querystring: query(transformQuery) } }, (request) =>
    read((head) => ({ data: show(api, head, existing(queries.blocks.byHeight(1)), request.query) })),
  );

  app.get("/blocks/last", { schema: { querystring: query(transformQuery) } }, (request) =>
    read((head) => ({
      data: show(api, head, existing(queries.blocks.byHeight(head.height)), request.query),
    })),
  );

  app.get(
    "/blocks/:id",
    { schema: { params: Type.Object({ id: blockId }), querystring: query(transformQuery) } },
    (request) =>
      read((head) => {
        const block = existing(findBlock(api, request.params.id));
        return { data: show(api, head, block, request.query, createdRewards(api, block)) };
      }),
  );
};

/** The block of a path segment, which is tried as a height first. */
function findBlock({ queries }: Api, id: string): StoredBlock | undefined {
  const height = /^\d+$/.test(id) ? Number(id) : Number.NaN;
  const byHeight = Number.isSafeInteger(height) ? queries.blocks.byHeight(height) : undefined;
  return byHeight ?? queries.blocks.byId(id);
}

function existing(block: StoredBlock | undefined): StoredBlock {
  if (!block) throw notFound("Block");
  return block;
}

function show(
  { timestampOf, addressOf }: Api,
  head: Head,
  block: StoredBlock,
  wanted: { transform?: string },
  rewards?: CreatedRewards,
) {
  if (!wantsTransform(wanted)) return rawBlockAnswer(block, rewards);
  return blockAnswer(block, { headHeight: head.height, timestampOf, addressOf }, rewards);
}
