/** `/rounds` (http-api.md 6.9). */
import { Type } from "../../platform/json/schema.ts";
import type { Resource } from "../core/api.ts";
import { notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { amount, publicKey } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { positive } from "../requests/parameters.ts";

const RoundDelegate = Type.Object({ publicKey, votes: amount }, { title: "RoundDelegate" });
const schema = {
  ...described(
    "Rounds",
    "Lists the delegates of a round with their votes at its start, most votes first.",
    single(Type.Array(RoundDelegate)),
  ),
  params: Type.Object({ id: positive }),
};

export const rounds: Resource = (app, api) => {
  app.get("/rounds/:id/delegates", { config: HEAD_ONLY, schema }, (request) =>
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
