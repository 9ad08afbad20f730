/** Blocks in responses (http-api.md 4.3): single ones, and lists of them. */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { BlockFilter } from "../../read/filters.ts";
import { BLOCKS } from "../../read/lists.ts";
import type { Head, Snapshot } from "../../read/port.ts";
import type { StoredBlock } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { JsonText } from "../core/text.ts";
import {
  address,
  amount,
  blockId,
  count,
  hex,
  publicKey,
  Timestamp,
  timestampText,
  username,
} from "../core/values.ts";
import { type ListRequest, listResponse, pageOf } from "../requests/pagination.ts";
import { orderOf, wantsTransform } from "../requests/parameters.ts";

/** Coins that the rewarded transactions of a block created, as decimal text. */
export type CreatedRewards = { unikMintRewards: string; foundationRewards: string };

/** Schemas of these members, which only the response for a single block with transactions has. */
const createdRewards = {
  unikMintRewards: Type.Optional(amount),
  foundationRewards: Type.Optional(amount),
};

export const Block = Type.Object(
  {
    id: blockId,
    version: count,
    height: Type.Integer({ minimum: 1 }),
    previous: blockId,
    forged: Type.Object({
      reward: amount,
      fee: amount,
      total: amount,
      amount,
      ...createdRewards,
    }),
    payload: Type.Object({ hash: hex, length: count }),
    generator: Type.Object({ username: Type.Optional(username), address, publicKey }),
    signature: hex,
    confirmations: Type.Integer({ minimum: 0, description: "Number of blocks on top of it." }),
    transactions: count,
    timestamp: Timestamp,
  },
  { title: "Block" },
);

export const RawBlock = Type.Object(
  {
    id: blockId,
    version: count,
    timestamp: count,
    previousBlock: blockId,
    height: Type.Integer({ minimum: 1 }),
    numberOfTransactions: count,
    totalAmount: amount,
    totalFee: amount,
    reward: amount,
    payloadLength: count,
    payloadHash: hex,
    generatorPublicKey: publicKey,
    blockSignature: hex,
    ...createdRewards,
  },
  { title: "RawBlock", description: "A block as it was signed: the response if `transform` is false." },
);

/** Schema of a block in both forms; the parameter `transform` chooses the form. */
export const AnyBlock = Type.Union([Block, RawBlock]);

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
  api: Api,
  head: Head,
  block: StoredBlock,
  wanted: { transform?: string },
  rewards?: CreatedRewards,
) {
  if (!wantsTransform(wanted)) return rawBlockResponse(block, rewards);
  return blockResponse(block, head.height, api, rewards);
}

/** Only usernames can contain characters that JSON escapes. */
export function blockResponse(
  block: StoredBlock,
  headHeight: number,
  { timestampOf, addressOf }: Pick<Api, "timestampOf" | "addressOf">,
  rewards?: CreatedRewards,
): JsonText<Static<typeof Block>> {
  const { id, version, height, previousBlock, reward, totalFee, totalAmount, generatorPublicKey } = block;
  const total = sumText(reward, totalFee);
  const created = rewards
    ? `,"unikMintRewards":"${rewards.unikMintRewards}","foundationRewards":"${rewards.foundationRewards}"`
    : "";
  const username = block.username === null ? "" : `"username":${JSON.stringify(block.username)},`;
  return new JsonText(
    `{"id":"${id}","version":${version},"height":${height},"previous":"${previousBlock}","forged":{"reward":"${reward}","fee":"${totalFee}","total":"${total}","amount":"${totalAmount}"${created}},"payload":{"hash":"${block.payloadHash}","length":${block.payloadLength}},"generator":{${username}"address":"${addressOf(generatorPublicKey)}","publicKey":"${generatorPublicKey}"},"signature":"${block.blockSignature}","confirmations":${headHeight - height},"transactions":${block.numberOfTransactions},"timestamp":${timestampText(timestampOf(block.timestamp))}}`,
  );
}

/** Sums of up to this many digits are exact as numbers, whose addition takes a quarter of the time. */
const MAX_EXACT_DIGITS = 15;

/** Returns the sum of two non-negative amounts in decimal text. */
export const sumText = (one: string, other: string): string =>
  one.length <= MAX_EXACT_DIGITS && other.length <= MAX_EXACT_DIGITS
    ? `${Number(one) + Number(other)}`
    : `${BigInt(one) + BigInt(other)}`;

/** Returns the raw form: members of the header under their own names. */
export const rawBlockResponse = (block: StoredBlock, rewards?: CreatedRewards): Static<typeof RawBlock> => ({
  id: block.id,
  version: block.version,
  timestamp: block.timestamp,
  previousBlock: block.previousBlock,
  height: block.height,
  numberOfTransactions: block.numberOfTransactions,
  totalAmount: block.totalAmount,
  totalFee: block.totalFee,
  reward: block.reward,
  payloadLength: block.payloadLength,
  payloadHash: block.payloadHash,
  generatorPublicKey: block.generatorPublicKey,
  blockSignature: block.blockSignature,
  ...rewards,
});
