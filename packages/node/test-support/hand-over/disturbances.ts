/** Load of a dev chain: blocks, and reorganisations, at random moments. */
import { setTimeout as sleep } from "node:timers/promises";
import { createDraws } from "../random.ts";
import type { HandOverChain } from "./chain.ts";

const MAX_DEPTH = 5;
const MAX_MINED = 4;
const MAX_PAUSE_MS = 300;

export type Disturbances = { end(): Promise<void> };

/** Mines and reorganises until it is ended. */
export function disturb({ command }: Pick<HandOverChain, "command">, seed: number): Disturbances {
  const { chance, integer } = createDraws(seed);
  let isEnded = false;
  const running = (async () => {
    // A branch needs blocks to fork from.
    await command("mine", { blocks: 2 * MAX_DEPTH });
    while (!isEnded) {
      if (chance(0.25)) await command("reorg", { depth: integer(1, MAX_DEPTH) });
      else await command("mine", { blocks: integer(1, MAX_MINED) });
      await sleep(integer(0, MAX_PAUSE_MS));
    }
  })();
  running.catch(() => {});
  return {
    async end() {
      isEnded = true;
      await running;
    },
  };
}
