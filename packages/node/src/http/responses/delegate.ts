/** Delegates in responses (http-api.md 4.6). */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { StoredDelegate } from "../../read/rows.ts";
import { Timestamp, type TimestampOf } from "./timestamp.ts";
import { address, amount, blockId, count, publicKey, username } from "./values.ts";

const TYPES: Readonly<Record<number, string>> = { 1: "individual", 2: "organization", 3: "network" };

export const Delegate = Type.Object(
  {
    unikname: Type.String({ description: "First disclosed name of its unik, or else its username." }),
    username,
    type: Type.String({ enum: ["individual", "organization", "network", "genesis"] }),
    address,
    publicKey,
    vote: Type.String({
      description: "Public key of the delegate that it votes for; empty if none.",
    }),
    votes: amount,
    rank: Type.Optional(Type.Integer({ minimum: 1, description: "Absent for a resigned delegate." })),
    isResigned: Type.Boolean(),
    blocks: Type.Object({
      produced: count,
      last: Type.Optional(
        Type.Object({ id: blockId, height: Type.Integer({ minimum: 1 }), timestamp: Timestamp }),
      ),
    }),
    production: Type.Object({ approval: Type.Number({ description: "In percent." }) }),
    forged: Type.Object({ fees: amount, rewards: amount, total: amount }),
  },
  { title: "Delegate" },
);
export type DelegateResponse = Static<typeof Delegate>;

export type Standing = {
  /** Vote balance that determines the rank. */
  readonly votes: bigint;
  /** Approval in per cent. */
  readonly approval: number;
};

export function delegateResponse(
  { address, publicKey, vote, delegate, explicitName }: StoredDelegate,
  { votes, approval }: Standing,
  timestampOf: TimestampOf,
): DelegateResponse {
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
