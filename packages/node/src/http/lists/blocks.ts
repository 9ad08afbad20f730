/** Single blocks and lists of blocks, shared by several resources. */
import { Type } from "../../platform/json/schema.ts";
import { BLOCK_ORDERS, type BlockFilter, type BlockOrder } from "../../read/filters.ts";
import type { Head } from "../../read/head.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredBlock } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { type ListRequest, listResponse, pageOf, pageQuery } from "../requests/pagination.ts";
import {
  blockId,
  orderBy,
  orderOf,
  positive,
  publicKey,
  transformQuery,
  uint,
  wantsTransform,
} from "../requests/parameters.ts";
import { blockResponse, type CreatedRewards, rawBlockResponse } from "../responses/block.ts";

export const blockOrder = Type.Optional(orderBy(...BLOCK_ORDERS));

/** Parameters of every list of blocks. */
export const blockListQuery = {
  ...pageQuery,
  ...transformQuery,
  orderBy: blockOrder,
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
};

const DEFAULT_ORDER: BlockOrder = { field: "height", direction: "desc" };

export async function blockList(
  api: Api,
  { head, blocks }: Snapshot,
  request: ListRequest<{ transform?: string }>,
  filter: BlockFilter,
  orderBy: string | undefined,
) {
  const page = pageOf(request.query);
  const order = orderOf(orderBy, DEFAULT_ORDER);
  const { rows, ...found } = await blocks.list(filter, order, page);
  const data = rows.map((block) => showBlock(api, head, block, request.query));
  return listResponse(request, page, { rows: data, ...found });
}

/** Returns a block in the requested form, transformed by default. */
export function showBlock(
  { timestampOf, addressOf }: Api,
  head: Head,
  block: StoredBlock,
  wanted: { transform?: string },
  rewards?: CreatedRewards,
) {
  if (!wantsTransform(wanted)) return rawBlockResponse(block, rewards);
  return blockResponse(block, { headHeight: head.height, timestampOf, addressOf }, rewards);
}
