/** `/blockchain` (http-api.md 6.1) and `/rounds` (http-api.md 6.9). */
import { Type } from "../../platform/json/schema.ts";
import type { Resource } from "../core/api.ts";
import { notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { amount, blockId, integer, publicKey, wholeAmount } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { positive, query } from "../requests/parameters.ts";

const Blockchain = Type.Object({
  block: Type.Object({ height: Type.Integer({ minimum: 1 }), id: blockId }),
  supply: wholeAmount,
});
const schema = described(
  "Blockchain",
  "Returns the last block and the supply of tokens.",
  single(Blockchain),
);

/** Prefix of an id; fewer characters would match too much. */
const prefix = Type.String({
  pattern: "^[0-9A-Za-z]{4,64}$",
  description: "At least 4 letters and digits, case-sensitive.",
});
const Identified = Type.Object({
  kind: Type.String({ enum: ["block", "transaction", "unik", "wallet"] }),
  id: Type.String({ description: "Id, or address if it is a wallet." }),
  height: Type.Optional(Type.Integer({ minimum: 1, description: "Height, if it is a block." })),
});
const identifiedSchema = described(
  "Blockchain",
  "Finds blocks, transactions, uniks and wallets whose id or address begins with a text; at most five of each kind.",
  single(Type.Array(Identified)),
  { params: Type.Object({ prefix }), querystring: query({}) },
);

export const blockchain: Resource = (app, api) => {
  app.get("/blockchain", { config: HEAD_ONLY, schema }, (request) =>
    api.read(request, async ({ head, chain }) => ({
      data: {
        block: { height: head.height, id: head.id },
        supply: integer(`${await chain.supply()}`),
      },
    })),
  );
  app.get("/blockchain/identifiers/:prefix", { config: HEAD_ONLY, schema: identifiedSchema }, (request) =>
    api.read(request, async ({ chain }) => ({
      data: [...(await chain.beginningWith(request.params.prefix))],
    })),
  );
};

const RoundDelegate = Type.Object({ publicKey, votes: amount }, { title: "RoundDelegate" });
const roundSchema = described(
  "Rounds",
  "Lists the delegates of a round with their votes at its start, most votes first.",
  single(Type.Array(RoundDelegate)),
  { params: Type.Object({ id: positive }) },
);

export const rounds: Resource = (app, api) => {
  app.get("/rounds/:id/delegates", { config: HEAD_ONLY, schema: roundSchema }, (request) =>
    api.read(request, async ({ rounds }) => {
      const delegates = await rounds.delegates(Number(request.params.id));
      if (!delegates) throw notFound("ROUND_UNKNOWN", "Round");
      return {
        data: delegates
          .toSorted(byVotes)
          .map(({ publicKey, voteBalance }) => ({ publicKey, votes: voteBalance })),
      };
    }),
  );
};

type RoundDelegate = { readonly publicKey: string; readonly voteBalance: string };

/** Orders by votes, descending; delegates are stored by rank, which differs if types have their own ranks. */
function byVotes(a: RoundDelegate, b: RoundDelegate): number {
  const difference = BigInt(b.voteBalance) - BigInt(a.voteBalance);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return a.publicKey < b.publicKey ? -1 : 1;
}
