/** Blocks in answers (http-api.md 4.3). */
import type { BlockHeader } from "@uniknode/protocol";
import type { StoredBlock } from "../../store/queries/blocks.ts";
import type { Timestamp, TimestampOf } from "./timestamp.ts";

/** What the rewarded transactions of a block created; decimal texts. */
export type CreatedRewards = { unikMintRewards: string; foundationRewards: string };

export type BlockAnswer = {
  id: string;
  version: number;
  height: number;
  previous: string;
  forged: { reward: string; fee: string; total: string; amount: string } & Partial<CreatedRewards>;
  payload: { hash: string; length: number };
  generator: { username?: string; address: string; publicKey: string };
  signature: string;
  /** Blocks on top of it. */
  confirmations: number;
  transactions: number;
  timestamp: Timestamp;
};

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
export const rawBlockAnswer = ({ header }: { header: BlockHeader }, rewards?: CreatedRewards) => ({
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
