/** A reader of a database file in a thread of its own, which looks at the head as often as it can. */

import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";

/** The head, with the id of a lower block that was in the same read. */
export type Seen = { readonly height: number; readonly id: string; readonly forkId: string };

/** Reads in a loop from when it settles; `forkHeight` is the block that tells one branch from another. */
export async function openHeadReader(path: string, forkHeight: number) {
  const ended = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: { path, forkHeight, ended } });
  const seen: Seen[] = [];
  worker.on("message", (one: Seen) => seen.push(one));
  await once(worker, "message");
  return {
    /** Settles when a head was seen. */
    async sees(id: string) {
      while (seen.at(-1)?.id !== id) await once(worker, "message");
    },
    /** Every head that was seen, each change once. */
    async close(): Promise<readonly Seen[]> {
      // Not terminated: a statement that is cut off returns as if there were no row.
      ended[0] = 1;
      await once(worker, "exit");
      return seen;
    },
  };
}

if (parentPort && workerData?.forkHeight) {
  const { path, forkHeight, ended } = workerData as { path: string; forkHeight: number; ended: Int32Array };
  const database = openDatabase(path, { readonly: true });
  const head = database.prepare<Seen>(
    `SELECT height, id, (SELECT id FROM blocks WHERE height = ${forkHeight}) AS forkId
     FROM blocks ORDER BY height DESC LIMIT 1`,
  );
  let last = "";
  while (Atomics.load(ended, 0) === 0) {
    const seen = present(head.get(), "a row of head");
    const text = JSON.stringify(seen);
    if (text !== last) parentPort.postMessage(seen);
    last = text;
  }
  database.close();
}
