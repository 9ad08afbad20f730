/** `/delegates` (http-api.md 6.6). All delegates fit in memory: they are put together once for each head. */
import { approval } from "@uniknode/ledger";
import { Type } from "typebox";
import type { StoredDelegate } from "../store/queries/delegates.ts";
import { type Head, perHead } from "../store/queries/snapshot.ts";
import { type DelegateAnswer, delegateAnswer } from "./answers/delegate.ts";
import type { Api, Resource } from "./api.ts";
import { listAnswer, pageOf, pageQuery } from "./requests/pagination.ts";
import { address, int, orderOf, publicKey, query, uint, username, walletId } from "./requests/parameters.ts";
import { notFound } from "./transport/error.ts";

/** A delegate as stored, and as shown. */
type Candidate = { readonly stored: StoredDelegate; readonly answer: DelegateAnswer };

/** What a delegate is ordered by; undefined comes last in both directions. */
const ORDERS = {
  approval: ({ answer }) => answer.production.approval,
  forgedFees: ({ answer }) => BigInt(answer.forged.fees),
  forgedRewards: ({ answer }) => BigInt(answer.forged.rewards),
  forgedTotal: ({ answer }) => BigInt(answer.forged.total),
  producedBlocks: ({ answer }) => answer.blocks.produced,
  publicKey: ({ answer }) => answer.publicKey,
  rank: ({ answer }) => answer.rank,
  resigned: ({ answer }) => (answer.isResigned ? 0 : undefined),
  username: ({ answer }) => answer.username,
  voteBalance: ({ answer }) => BigInt(answer.votes),
  votes: ({ answer }) => BigInt(answer.votes),
} as const satisfies Record<string, (candidate: Candidate) => bigint | number | string | undefined>;

type OrderField = keyof typeof ORDERS;

/** Fields by the number of their column (disagreement D-05). */
const COLUMNS: readonly OrderField[] = [
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

const listQuery = query({
  ...pageQuery,
  orderBy: Type.Optional(
    Type.String({ pattern: `^(-?[0-9]+|(${Object.keys(ORDERS).join("|")}):(asc|desc))$` }),
  ),
  type: Type.Optional(Type.String({ pattern: "^(resigned|never-forged)$" })),
  address: Type.Optional(address),
  publicKey: Type.Optional(publicKey),
  secondPublicKey: Type.Optional(publicKey),
  vote: Type.Optional(publicKey),
  username: Type.Optional(username),
  balance: Type.Optional(int),
  voteBalance: Type.Optional(uint),
  producedBlocks: Type.Optional(uint),
});

/** Filters of the list: whether a delegate passes a value. */
const FILTERS: Readonly<Record<string, (candidate: Candidate, value: string) => boolean>> = {
  type: ({ answer }, value) => (value === "resigned" ? answer.isResigned : answer.blocks.produced === 0),
  address: ({ answer }, value) => answer.address === value,
  publicKey: ({ answer }, value) => answer.publicKey === value,
  secondPublicKey: ({ stored }, value) => stored.secondPublicKey === value,
  vote: ({ stored }, value) => stored.vote === value,
  username: ({ answer }, value) => answer.username.includes(value),
  balance: ({ stored }, value) => BigInt(stored.balance) === BigInt(value),
  voteBalance: ({ answer }, value) => BigInt(answer.votes) === BigInt(value),
  producedBlocks: ({ answer }, value) => answer.blocks.produced === Number(value),
};

export const delegates: Resource = (app, api) => {
  const { read } = api;
  const candidates = createCandidates(api);

  app.get("/delegates", { schema: { querystring: listQuery } }, (request) => {
    const page = pageOf(request.query);
    return read((head) => {
      const found = Object.entries(request.query).reduce<readonly Candidate[]>((passing, [name, value]) => {
        const test = FILTERS[name];
        return test ? passing.filter((candidate) => test(candidate, value)) : passing;
      }, candidates(head));
      const rows = found
        .toSorted(comparator(request.query.orderBy))
        .slice(page.offset, page.offset + page.limit)
        .map(({ answer }) => answer);
      return listAnswer(request, page, { rows, totalCount: found.length });
    });
  });

  app.get("/delegates/:id", { schema: { params: Type.Object({ id: walletId }) } }, (request) =>
    read((head) => {
      const { id } = request.params;
      const delegate = candidates(head).find(
        ({ answer }) => answer.address === id || answer.publicKey === id || answer.username === id,
      );
      if (!delegate) throw notFound("Delegate");
      return { data: delegate.answer };
    }),
  );
};

function createCandidates({ network, queries, timestampOf }: Api) {
  /** What all votes are compared with while delegates of every type compete for the same places. */
  function oldTotal(head: Head): bigint {
    // The formula counts a reward for the genesis block too, which nobody got (state.md 4.2).
    const genesisReward = BigInt(network.milestoneAt(1).reward);
    return queries.chain.supply(head) + queries.chain.lockedSupply(head) + genesisReward;
  }

  return perHead((head): readonly Candidate[] => {
    const all = queries.delegates.all(head);
    const isByType = network.milestoneAt(head.height).nbDelegatesByType !== undefined;
    const votesOf = ({ delegate }: StoredDelegate) =>
      BigInt((isByType ? delegate.weightedVoteBalance : undefined) ?? delegate.voteBalance);
    const totals = isByType ? totalsByType(all, votesOf) : undefined;
    const total = totals ? 0n : oldTotal(head);
    return all.map((stored) => {
      const votes = votesOf(stored);
      const share = approval(votes, totals ? (totals.get(stored.delegate.type) ?? 0n) : total);
      return { stored, answer: delegateAnswer(stored, { votes, approval: share }, timestampOf) };
    });
  });
}

/** Delegates without a type compete with nobody: they are in no total. */
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

function comparator(text: string | undefined): (a: Candidate, b: Candidate) => number {
  const { field, sign } = orderFrom(text);
  const rate = ORDERS[field] as (candidate: Candidate) => bigint | number | string | undefined;
  return (a, b) => {
    const [x, y] = [rate(a), rate(b)];
    const byValue =
      x === undefined || y === undefined
        ? Number(x === undefined) - Number(y === undefined)
        : compare(x, y) * sign;
    return byValue || compare(a.answer.publicKey, b.answer.publicKey);
  };
}

/** By rank unless the text says something that has a meaning. */
function orderFrom(text: string | undefined): { field: OrderField; sign: 1 | -1 } {
  if (text !== undefined && /^-?\d+$/.test(text)) {
    const field = COLUMNS[Math.abs(Number(text)) - 1];
    return { field: field ?? "rank", sign: field !== undefined && text.startsWith("-") ? -1 : 1 };
  }
  const { field, direction } = orderOf(text) ?? { field: "rank", direction: "asc" };
  return { field: field as OrderField, sign: direction === "asc" ? 1 : -1 };
}

const compare = <T extends bigint | number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
