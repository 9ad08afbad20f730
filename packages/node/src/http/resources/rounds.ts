/** `/rounds` (http-api.md 6.9). */
import { Type } from "../../platform/json/schema.ts";
import { amount, publicKey } from "../answers/values.ts";
import { described, single } from "../documentation/route.ts";
import { positive } from "../requests/parameters.ts";
import { notFound } from "../server/error.ts";
import { HEAD_ONLY } from "../server/head-cache.ts";
import type { Resource } from "./api.ts";

const RoundDelegate = Type.Object({ publicKey, votes: amount }, { title: "RoundDelegate" });
const schema = {
  ...described(
    "Rounds",
    "Lists the delegates of a round with their votes at its start, most votes first.",
    single(Type.Array(RoundDelegate)),
  ),
  params: Type.Object({ id: positive }),
};

export const rounds: Resource = (app, { read }) => {
  app.get("/rounds/:id/delegates", { config: HEAD_ONLY, schema }, (request) =>
    read(request, async ({ rounds }) => {
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

/** Most votes first; delegates are stored by rank, which is another order where types have places of their own. */
function byVotes(a: RoundDelegate, b: RoundDelegate): number {
  const difference = BigInt(b.voteBalance) - BigInt(a.voteBalance);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return a.publicKey < b.publicKey ? -1 : 1;
}
