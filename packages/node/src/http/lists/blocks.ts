/** Single blocks and lists of blocks, shared by several resources. */

import type { BlockFilter } from "../../read/filters.ts";
import type { Head } from "../../read/head.ts";
import { BLOCKS } from "../../read/lists.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredBlock } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { type ListRequest, listResponse, pageOf } from "../requests/pagination.ts";
import { orderOf, wantsTransform } from "../requests/parameters.ts";
import { blockResponse, type CreatedRewards, rawBlockResponse } from "../responses/block.ts";

/** Finds the block of a path segment, first as a height, then as an id. */
export async function findBlock({ blocks }: Snapshot, id: string): Promise<StoredBlock | undefined> {
  const height = /^\d+$/.test(id) ? Number(id) : Number.NaN;
  const byHeight = Number.isSafeInteger(height) ? await blocks.byHeight(height) : undefined;
  return byHeight ?? (await blocks.byId(id));
}

export async function blockList(
  api: Api,
  { head, blocks }: Snapshot,
  request: ListRequest<{ transform?: string }>,
  filter: BlockFilter,
  orderBy: string | undefined,
) {
  const page = pageOf(request.query);
  const order = orderOf(orderBy, BLOCKS);
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
