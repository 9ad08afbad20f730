/**
 * Kills a mirror at seeded random moments, while blocks with transfers come and go, restarts its node between two comparisons, and
 * compares the mirror with it, its events included.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { people } from "../chain/cast.ts";
import { connect, transferOf } from "../process/client.ts";
import { createDraws } from "../random.ts";
import type { MirroredDevChain } from "./dev-chain.ts";

export type KillOptions = {
  readonly kills: number;
  readonly seed: number;
  /** Longest time between the start of a mirror and its end. */
  readonly maxLifeMs: number;
  /** Kills after which the mirror catches up and is compared. */
  readonly comparedEvery: number;
  /** Reports progress. */
  readonly log: (line: string) => void;
};

/** Names of recorded events. */
const EVENTS = [
  "block.applied",
  "block.reverted",
  "transaction.applied",
  "transaction.reverted",
  "wallet.saved",
];
const MIN_LIFE_MS = 300;
const MAX_DEPTH = 40;
const MAX_MINED = 20;
/** Transfers of one submission. */
const TRANSFERS = 5;

/** @throws {Error} naming the kill after which the mirror differs, or does not follow */
export async function runKills(
  chain: MirroredDevChain,
  { kills, seed, maxLifeMs, comparedEvery, log }: KillOptions,
): Promise<void> {
  const random = createDraws(seed);
  const below = (limit: number) => Math.floor(random.below(limit));
  const disturb = await createDisturbances(chain, below);
  for (let kill = 1; kill <= kills; kill++) {
    const mirror = chain.startMirror();
    const lifeMs = MIN_LIFE_MS + random.below(maxLifeMs - MIN_LIFE_MS);
    const isOver = sleep(lifeMs, "over");
    while ((await Promise.race([isOver, disturb()])) !== "over");
    mirror.child.kill("SIGKILL");
    await mirror.ended;
    if (kill % comparedEvery !== 0 && kill !== kills) continue;
    const last = chain.startMirror();
    try {
      // All comparisons but the last one: a restart takes long.
      if (kill < kills) await chain.restartNode();
      await chain.followed();
      await chain.compare();
    } catch (error) {
      throw new Error(`seed ${seed}, kill ${kill}: ${(error as Error).message}`, { cause: error });
    }
    last.child.kill("SIGKILL");
    await last.ended;
    log(`kill ${kill} of ${kills}: block ${(await chain.head()).height}, equal`);
  }
}

/** Returns a function that mines, reorganises or submits, by chance. */
async function createDisturbances(
  { url, command, head, recordEvents }: MirroredDevChain,
  below: (limit: number) => number,
): Promise<() => Promise<void>> {
  const [alice, bob] = [people("account 0"), people("account 1")];
  const { network, submit, get } = await connect(url);
  await recordEvents(EVENTS);
  // A branch needs blocks to fork from.
  await command("mine", { blocks: 2 * MAX_DEPTH });
  return async () => {
    const kind = below(3);
    if (kind === 0) await command("mine", { blocks: 1 + below(MAX_MINED) });
    else if (kind === 1)
      await command("reorg", { depth: 1 + below(Math.min(MAX_DEPTH, (await head()).height - 30)) });
    else {
      const { nonce } = (await get(`/api/v2/wallets/${alice.address}`)) as { nonce: string };
      const next = BigInt(nonce) + 1n;
      await submit(
        Array.from({ length: TRANSFERS }, (_, index) =>
          transferOf(network, alice, bob.address, next + BigInt(index)),
        ),
      );
      await command("mine", { blocks: 1 });
    }
    await sleep(20);
  };
}
