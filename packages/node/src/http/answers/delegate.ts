/** Delegates in answers (http-api.md 4.6). */
import type { StoredDelegate } from "../../store/queries/delegates.ts";
import type { Timestamp, TimestampOf } from "./timestamp.ts";

const TYPES: Readonly<Record<number, string>> = { 1: "individual", 2: "organization", 3: "network" };

export type DelegateAnswer = {
  unikname: string;
  username: string;
  type: string;
  address: string;
  publicKey: string;
  /** Public key of the delegate that it votes for itself; empty for none. */
  vote: string;
  votes: string;
  rank?: number;
  isResigned: boolean;
  blocks: { produced: number; last?: { id: string; height: number; timestamp: Timestamp } };
  production: { approval: number };
  forged: { fees: string; rewards: string; total: string };
};

export type Standing = {
  /** The vote balance that counts. */
  readonly votes: bigint;
  /** Per cent. */
  readonly approval: number;
};

export function delegateAnswer(
  { address, publicKey, vote, delegate, explicitName }: StoredDelegate,
  { votes, approval }: Standing,
  timestampOf: TimestampOf,
): DelegateAnswer {
  const { username, type, rank, resigned, producedBlocks, lastBlock, forgedFees, forgedRewards } = delegate;
  return {
    unikname: explicitName ?? username,
    username,
    type: TYPES[type ?? 0] ?? "genesis",
    address,
    publicKey,
    vote: vote ?? "",
    votes: `${votes}`,
    ...(rank !== undefined && { rank }),
    isResigned: resigned === true,
    blocks: {
      produced: producedBlocks,
      ...(lastBlock && {
        last: { id: lastBlock.id, height: lastBlock.height, timestamp: timestampOf(lastBlock.timestamp) },
      }),
    },
    production: { approval },
    forged: {
      fees: forgedFees,
      rewards: forgedRewards,
      total: `${BigInt(forgedFees) + BigInt(forgedRewards)}`,
    },
  };
}
