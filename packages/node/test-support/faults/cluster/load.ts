/** Load on the chain during a run: transactions of several types, and reorganisations. */
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { present } from "../../../src/platform/present.ts";
import { people } from "../actors/cast.ts";
import type { Control } from "../actors/control.ts";
import { createDraws, type Random } from "../actors/random.ts";
import { createSubmissions } from "../actors/submissions.ts";
import { type Background, repeat } from "../scenario.ts";
import type { Cluster } from "./cluster.ts";

/** Deepest reorganisation. */
export const MAX_DEPTH = 40;
const SHALLOW_DEPTH = 5;
const SUBMIT_EVERY_MS = 700;
/** Shortest and longest time between two reorganisations, in seconds. */
const REORGANISE_EVERY = [2, 8] as const;

const accounts = Array.from({ length: 10 }, (_, index) => people(`account ${index}`));
/** Receives some of the transfers. */
export const watched: DevAccount = present(accounts[9]);

export function startLoad({ client, control }: Cluster, seed: number): Background {
  const random = createDraws(seed);
  const submitSome = createSubmissions(accounts.slice(0, 5), { watched, people, random: createDraws(seed) });
  const submitting = repeat(
    () => SUBMIT_EVERY_MS,
    () => submitSome(client),
  );
  const reorganising = repeat(
    () => random.integer(...REORGANISE_EVERY) * 1_000,
    () => reorganise(control, random),
  );
  return {
    async stop() {
      await Promise.all([submitting.stop(), reorganising.stop()]);
    },
  };
}

/** Mostly shallow, sometimes as deep as allowed. */
function reorganise(control: Control, random: Random): Promise<unknown> {
  const depth = random.chance(0.15)
    ? random.integer(SHALLOW_DEPTH + 1, MAX_DEPTH)
    : random.integer(1, SHALLOW_DEPTH);
  const blocks = depth + random.integer(1, 2);
  return control.post("/api/dev/reorg", { depth, blocks, transactions: random.chance(0.7) });
}
