/** `/blocks` (http-api.md 6.3). */
import { Type } from "typebox";
import type { StoredBlock } from "../../read/sqlite/blocks.ts";
import { AnyBlock } from "../answers/block.ts";
import { AnyTransaction } from "../answers/transaction.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { blockList, blockListQuery, blockOrder, showBlock } from "../lists/blocks.ts";
import {
  recipientQuery,
  senderQuery,
  transactionList,
  transactionListQuery,
  typeQuery,
} from "../lists/transactions.ts";
import { body, interval, positiveValue, uintValue } from "../requests/bodies.ts";
import { pageQuery } from "../requests/pagination.ts";
import { blockId, publicKey, query, transformQuery, uint } from "../requests/parameters.ts";
import { notFound } from "../server/error.ts";
import type { Api, Resource } from "./api.ts";
import { createdRewards } from "./rewards.ts";

const searchBody = body({
  orderBy: blockOrder,
  id: Type.Optional(blockId),
  version: Type.Optional(uintValue),
  previousBlock: Type.Optional(blockId),
  generatorPublicKey: Type.Optional(publicKey),
  timestamp: Type.Optional(interval(uintValue)),
  height: Type.Optional(interval(positiveValue)),
  numberOfTransactions: Type.Optional(interval(uintValue)),
  totalAmount: Type.Optional(interval(uintValue)),
  totalFee: Type.Optional(interval(uintValue)),
  reward: Type.Optional(interval(uintValue)),
});

const transactionsQuery = query({
  ...transactionListQuery,
  // Unlike other lists, this one may be asked for a version that none has.
  version: Type.Optional(uint),
  ...typeQuery,
  ...senderQuery,
  ...recipientQuery,
});

export const blocks: Resource = (app, api) => {
  const { queries, read } = api;

  app.get(
    "/blocks",
    {
      schema: {
        ...described("Blocks", "Blocks, newest first.", listOf(AnyBlock)),
        querystring: query(blockListQuery),
      },
    },
    (request) => read((head) => blockList(api, head, request, request.query, request.query.orderBy)),
  );

  app.post(
    "/blocks/search",
    {
      schema: {
        ...described("Blocks", "Search of blocks.", listOf(AnyBlock)),
        querystring: query({ ...pageQuery, ...transformQuery }),
        body: searchBody,
      },
    },
    (request) => read((head) => blockList(api, head, request, request.body, request.body.orderBy)),
  );

  app.get(
    "/blocks/first",
    {
      schema: {
        ...described("Blocks", "The first block.", single(AnyBlock)),
        querystring: query(transformQuery),
      },
    },
    (request) =>
      read((head) => ({ data: showBlock(api, head, existing(queries.blocks.byHeight(1)), request.query) })),
  );

  app.get(
    "/blocks/last",
    {
      schema: {
        ...described("Blocks", "The last block.", single(AnyBlock)),
        querystring: query(transformQuery),
      },
    },
    (request) =>
      read((head) => ({
        data: showBlock(api, head, existing(queries.blocks.byHeight(head.height)), request.query),
      })),
  );

  app.get(
    "/blocks/:id",
    {
      schema: {
        ...described("Blocks", "One block, by id or height.", single(AnyBlock)),
        params: Type.Object({ id: blockId }),
        querystring: query(transformQuery),
      },
    },
    (request) =>
      read((head) => {
        const block = existing(findBlock(api, request.params.id));
        return { data: showBlock(api, head, block, request.query, createdRewards(api, block)) };
      }),
  );

  // What is no id at all is not found here, rather than refused.
  app.get(
    "/blocks/:id/transactions",
    {
      schema: {
        ...described("Blocks", "Transactions of a block, in their order.", listOf(AnyTransaction)),
        params: Type.Object({ id: Type.String() }),
        querystring: transactionsQuery,
      },
    },
    (request) =>
      read((head) => {
        const { height } = existing(findBlock(api, request.params.id));
        const { orderBy } = request.query;
        return transactionList(
          api,
          head,
          request,
          { ...request.query, height },
          { orderBy, sequence: "asc" },
        );
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
