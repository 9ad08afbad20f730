/** Delegates in responses (http-api.md 4.6), and lists of them, which fit in memory and are built once per head. */

import { approval } from "@uniknode/ledger";
import { type Static, Type } from "../../platform/json/schema.ts";
import type { DelegateFilter, DelegateOrder } from "../../read/filters.ts";
import { DELEGATES } from "../../read/lists.ts";
import { type PastState, perSnapshot, type Snapshot } from "../../read/port.ts";
import type { StoredDelegate } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import {
  address,
  amount,
  blockId,
  count,
  publicKey,
  Timestamp,
  type TimestampOf,
  username,
} from "../core/values.ts";
import { matches, memoryList, passing, type Rate, type Tests } from "../requests/memory-list.ts";
import type { ListRequest } from "../requests/pagination.ts";
import { orderOf } from "../requests/parameters.ts";

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
type DelegateResponse = Static<typeof Delegate>;

type Standing = {
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

/** A delegate as stored and as in responses. */
export type Candidate = { readonly stored: StoredDelegate; readonly response: DelegateResponse };

const RATES = {
  approval: ({ response }) => response.production.approval,
  forgedFees: ({ response }) => BigInt(response.forged.fees),
  forgedRewards: ({ response }) => BigInt(response.forged.rewards),
  forgedTotal: ({ response }) => BigInt(response.forged.total),
  producedBlocks: ({ response }) => response.blocks.produced,
  publicKey: ({ response }) => response.publicKey,
  rank: ({ response }) => response.rank,
  // Resigned delegates come first in both directions.
  resigned: ({ response }) => (response.isResigned ? 0 : undefined),
  username: ({ response }) => response.username,
  voteBalance: ({ response }) => BigInt(response.votes),
  votes: ({ response }) => BigInt(response.votes),
} as const satisfies Record<DelegateOrder["field"], Rate<Candidate>>;

/** Fields by the number of their column (disagreement D-05). */
const COLUMNS: readonly DelegateOrder["field"][] = [
  "rank",
  "username",
  "approval",
  "voteBalance",
  "producedBlocks",
  "forgedFees",
  "forgedRewards",
  "forgedTotal",
  "publicKey",
  "resigned",
];

export const delegateOrder = Type.Optional(
  Type.String({
    pattern: `^(-?[0-9]+|(${DELEGATES.orders.join("|")}):(asc|desc))$`,
    description: `${DELEGATES.orders.join(", ")}; followed by :asc or :desc. Or the number of a column, with a minus to descend: ${COLUMNS.map((name, index) => `${index + 1} ${name}`).join(", ")}.`,
  }),
);

const rounded = (percentage: number | string): number => Math.round(Number(percentage) * 100) / 100;

const TESTS: Tests<Candidate, DelegateFilter> = {
  type: ({ response }, value) =>
    value === "resigned" ? response.isResigned : response.blocks.produced === 0,
  address: ({ response }, value) => response.address === value,
  publicKey: ({ response }, value) => response.publicKey === value,
  secondPublicKey: ({ stored }, value) => stored.secondPublicKey === value,
  vote: ({ stored }, value) => stored.vote === value,
  username: ({ response }, value) => response.username.includes(value),
  name: ({ response: { unikname, username } }, value) =>
    [unikname, username].some((name) => name.toLowerCase().includes(value.toLowerCase())),
  usernames: ({ response }, values) => values.includes(response.username),
  balance: ({ stored }, value) => matches(stored.balance, value),
  approval: ({ response }, { from = 0, to = 100 }) =>
    response.production.approval >= rounded(from) && response.production.approval <= rounded(to),
  forgedFees: ({ response }, value) => matches(response.forged.fees, value),
  forgedRewards: ({ response }, value) => matches(response.forged.rewards, value),
  forgedTotal: ({ response }, value) => matches(response.forged.total, value),
  voteBalance: ({ response }, value) => matches(response.votes, value),
  producedBlocks: ({ response }, value) => matches(response.blocks.produced, value),
};

export function delegateList(
  request: ListRequest<{ orderBy?: string }>,
  candidates: readonly Candidate[],
  filter: DelegateFilter,
) {
  const { field, direction } = orderFrom(request.query.orderBy);
  return memoryList(request, passing(candidates, TESTS, filter), {
    show: ({ response }) => response,
    id: ({ response }) => response.publicKey,
    rate: RATES[field],
    direction,
  });
}

/** Parses an order; orders by rank if the text is not valid. */
function orderFrom(text: string | undefined): DelegateOrder {
  if (text === undefined || !/^-?\d+$/.test(text)) return orderOf(text, DELEGATES);
  const field = COLUMNS[Math.abs(Number(text)) - 1];
  if (field === undefined) return DELEGATES.defaultOrder;
  return { field, direction: text.startsWith("-") ? "desc" : "asc" };
}

/** State from which delegates are read. */
type DelegateSource = Pick<PastState, "height" | "delegates" | "totalSupply">;

/** All delegates, including resigned ones. */
export class Candidates {
  readonly #network: Api["network"];
  readonly #timestampOf: TimestampOf;
  /** Returns the delegates of the head. */
  readonly present = perSnapshot(({ head, delegates, chain }: Snapshot) =>
    this.past({
      height: head.height,
      delegates,
      totalSupply: async () => (await chain.supply()) + (await chain.lockedSupply()),
    }),
  );

  constructor({ network, timestampOf }: Api) {
    this.#network = network;
    this.#timestampOf = timestampOf;
  }

  /** Returns the delegates of a state. */
  async past(state: DelegateSource): Promise<Candidate[]> {
    const all = await state.delegates.all();
    const isByType = this.#network.milestoneAt(state.height).nbDelegatesByType !== undefined;
    const votesOf = ({ delegate }: StoredDelegate) =>
      BigInt((isByType ? delegate.weightedVoteBalance : undefined) ?? delegate.voteBalance);
    const totals = isByType ? totalsByType(all, votesOf) : undefined;
    // While all types of delegates compete for the same ranks, the total includes a reward for the genesis block, which no
    // wallet received (state.md 4.2).
    const total = totals ? 0n : (await state.totalSupply()) + BigInt(this.#network.milestoneAt(1).reward);
    return all.map((stored) => {
      const votes = votesOf(stored);
      const share = approval(votes, totals ? (totals.get(stored.delegate.type) ?? 0n) : total);
      return { stored, response: delegateResponse(stored, { votes, approval: share }, this.#timestampOf) };
    });
  }
}

/** Sums up votes by type; delegates without a type are not counted. */
function totalsByType(
  all: readonly StoredDelegate[],
  votesOf: (delegate: StoredDelegate) => bigint,
): ReadonlyMap<number | undefined, bigint> {
  const totals = new Map<number | undefined, bigint>();
  for (const stored of all) {
    const { type } = stored.delegate;
    if (type !== undefined) totals.set(type, (totals.get(type) ?? 0n) + votesOf(stored));
  }
  return totals;
}
