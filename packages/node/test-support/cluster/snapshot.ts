/** A snapshot of the database that is held open, as by a long report: vacuum keeps all rows that it can see. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterDatabase } from "./database.ts";

export type HeldSnapshot = { end(): Promise<void> };

const EVERY_MS = 500;

/** Begins another snapshot when a fault of the database has ended the last one. */
export function holdSnapshot({ postgres }: Pick<ClusterDatabase, "postgres">): HeldSnapshot {
  let isEnded = false;

  async function hold(): Promise<void> {
    await postgres().transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async ({ query }) => {
      while (!isEnded) {
        await query("SELECT height FROM head");
        await sleep(EVERY_MS);
      }
    });
  }
  async function run(): Promise<void> {
    while (!isEnded) {
      await hold().catch(() => {});
      await sleep(EVERY_MS);
    }
  }
  const running = run();
  return {
    async end() {
      isEnded = true;
      await running;
    },
  };
}
