/** Blocks in answers (http-api.md 4.3). */
import type { BlockHeader } from "@uniknode/protocol";
import { type Static, Type } from "typebox";
import type { StoredBlock } from "../../store/queries/blocks.ts";
import { Timestamp, type TimestampOf } from "./timestamp.ts";
import { address, amount, blockId, count, hex, publicKey, username } from "./values.ts";

/** What the rewarded transactions of a block created; decimal texts. */
export type CreatedRewards = { unikMintRewards: string; foundationRewards: string };

/** The same as members of an answer: of a single block only, and only if it has transactions. */
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
    confirmations: Type.Integer({ minimum: 0, description: "Blocks on top of it." }),
    transactions: count,
    timestamp: Timestamp,
  },
  { title: "Block" },
);
export type BlockAnswer = Static<typeof Block>;

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
  { title: "RawBlock", description: "A block as it was signed: the answer where `transform` is false." },
);

/** By `transform`. */
export const AnyBlock = Type.Union([Block, RawBlock]);

export type BlockContext = {
  readonly headHeight: number;
  readonly timestampOf: TimestampOf;
  readonly addressOf: (publicKey: string) => string;
};

export function blockAnswer(
  { header, username }: StoredBlock,
  { headHeight, timestampOf, addressOf }: BlockContext,
  rewards?: CreatedRewards,
): BlockAnswer {
  const { generatorPublicKey } = header;
  return {
    id: header.id,
    version: header.version,
    height: header.height,
    previous: header.previousBlock,
    forged: {
      reward: `${header.reward}`,
      fee: `${header.totalFee}`,
      total: `${header.reward + header.totalFee}`,
      amount: `${header.totalAmount}`,
      ...rewards,
    },
    payload: { hash: header.payloadHash, length: header.payloadLength },
    generator: {
      ...(username !== undefined && { username }),
      address: addressOf(generatorPublicKey),
      publicKey: generatorPublicKey,
    },
    signature: header.blockSignature,
    confirmations: headHeight - header.height,
    transactions: header.numberOfTransactions,
    timestamp: timestampOf(header.timestamp),
  };
}

/** The raw form: members of the header under their own names. */
export const rawBlockAnswer = (
  { header }: { header: BlockHeader },
  rewards?: CreatedRewards,
): Static<typeof RawBlock> => ({
  id: header.id,
  version: header.version,
  timestamp: header.timestamp,
  previousBlock: header.previousBlock,
  height: header.height,
  numberOfTransactions: header.numberOfTransactions,
  totalAmount: `${header.totalAmount}`,
  totalFee: `${header.totalFee}`,
  reward: `${header.reward}`,
  payloadLength: header.payloadLength,
  payloadHash: header.payloadHash,
  generatorPublicKey: header.generatorPublicKey,
  blockSignature: header.blockSignature,
  ...rewards,
});
