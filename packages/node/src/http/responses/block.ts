/** Blocks in responses (http-api.md 4.3). */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { StoredBlock } from "../../read/rows.ts";
import { type JsonText, written } from "./text.ts";
import { Timestamp, type TimestampOf, timestampText } from "./timestamp.ts";
import { address, amount, blockId, count, hex, publicKey, username } from "./values.ts";

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
export type BlockResponse = Static<typeof Block>;

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

export type BlockContext = {
  readonly headHeight: number;
  readonly timestampOf: TimestampOf;
  readonly addressOf: (publicKey: string) => string;
};

/** Only usernames can contain characters that JSON escapes. */
export function blockResponse(
  block: StoredBlock,
  { headHeight, timestampOf, addressOf }: BlockContext,
  rewards?: CreatedRewards,
): JsonText<BlockResponse> {
  const { id, version, height, previousBlock, reward, totalFee, totalAmount, generatorPublicKey } = block;
  const total = sumText(reward, totalFee);
  const created = rewards
    ? `,"unikMintRewards":"${rewards.unikMintRewards}","foundationRewards":"${rewards.foundationRewards}"`
    : "";
  const username = block.username === null ? "" : `"username":${JSON.stringify(block.username)},`;
  return written(
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
