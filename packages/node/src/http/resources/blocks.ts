/** `/blocks` (http-api.md 6.3). */
import { Type } from "../../platform/json/schema.ts";
import { BLOCK_TRANSACTIONS, BLOCKS } from "../../read/lists.ts";
import type { StoredBlock } from "../../read/rows.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { notFound } from "../core/error.ts";
import { EACH_BLOCK, HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { blockList, showBlock } from "../lists/blocks.ts";
import { findBlock } from "../lists/find-block.ts";
import { transactionList } from "../lists/transactions.ts";
import { body } from "../requests/bodies.ts";
import { listParameters, orderOfList, searchMembers } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { blockId, query, transformQuery } from "../requests/parameters.ts";
import { AnyBlock } from "../responses/block.ts";
import { AnyTransaction } from "../responses/transaction.ts";
import { addBlockProof } from "./proofs.ts";
import { createdRewards } from "./rewards.ts";

const listQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(BLOCKS) });
const searchBody = body({ orderBy: orderOfList(BLOCKS), ...searchMembers(BLOCKS) });
const transactionsQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(BLOCK_TRANSACTIONS) });

export const blocks: Resource = (app, api) => {
  addList(app, api);
  addSearch(app, api);
  addEnd(app, api, "first");
  addEnd(app, api, "last");
  addBlock(app, api);
  addTransactions(app, api);
  addBlockProof(app, api);
};

function addList(app: Server, api: Api): void {
  app.get(
    "/blocks",
    {
      config: EACH_BLOCK,
      schema: {
        ...described("Blocks", "Lists blocks, newest first.", listOf(AnyBlock)),
        querystring: listQuery,
      },
    },
    (request) =>
      api.read(request, (snapshot) =>
        blockList(api, snapshot, request, request.query, request.query.orderBy),
      ),
  );
}

function addSearch(app: Server, api: Api): void {
  app.post(
    "/blocks/search",
    {
      schema: {
        ...described("Blocks", "Searches blocks.", listOf(AnyBlock)),
        querystring: query({ ...pageQuery, ...transformQuery }),
        body: searchBody,
      },
    },
    (request) =>
      api.read(request, (snapshot) => blockList(api, snapshot, request, request.body, request.body.orderBy)),
  );
}

/** Adds the route of the first or of the last block. */
function addEnd(app: Server, api: Api, name: "first" | "last"): void {
  app.get(
    `/blocks/${name}`,
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Blocks", `Returns the ${name} block.`, single(AnyBlock)),
        querystring: query(transformQuery),
      },
    },
    (request) =>
      api.read(request, async ({ head, blocks }) => {
        const block = existing(await blocks.byHeight(name === "first" ? 1 : head.height));
        return { data: showBlock(api, head, block, request.query) };
      }),
  );
}

function addBlock(app: Server, api: Api): void {
  app.get(
    "/blocks/:id",
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Blocks", "Returns a block by id or height.", single(AnyBlock)),
        params: Type.Object({ id: blockId }),
        querystring: query(transformQuery),
      },
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const block = existing(await findBlock(snapshot, request.params.id));
        const rewards = await createdRewards(api.network, snapshot, block);
        return { data: showBlock(api, snapshot.head, block, request.query, rewards) };
      }),
  );
}

function addTransactions(app: Server, api: Api): void {
  // A text that is not an id gets 404 instead of 422.
  app.get(
    "/blocks/:id/transactions",
    {
      config: EACH_BLOCK,
      schema: {
        ...described("Blocks", "Lists the transactions of a block, in order.", listOf(AnyTransaction)),
        params: Type.Object({ id: Type.String() }),
        querystring: transactionsQuery,
      },
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { height } = existing(await findBlock(snapshot, request.params.id));
        const { orderBy } = request.query;
        return transactionList(
          api,
          snapshot,
          request,
          { ...request.query, height },
          { orderBy, sequence: "asc" },
        );
      }),
  );
}

function existing(block: StoredBlock | undefined): StoredBlock {
  if (!block) throw notFound("BLOCK_UNKNOWN", "Block");
  return block;
}
