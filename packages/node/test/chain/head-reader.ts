/** Reader of a database file in its own thread, which polls the head as often as it can. */

import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";

/** Head, with the id of a lower block from the same read. */
export type Seen = { readonly height: number; readonly id: string; readonly forkId: string };

/** Reads in a loop from the moment it settles; `forkHeight` is the block that distinguishes the branches. */
export async function openHeadReader(path: string, forkHeight: number) {
  const ended = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: { path, forkHeight, ended } });
  const seen: Seen[] = [];
  worker.on("message", (one: Seen) => seen.push(one));
  await once(worker, "message");
  return {
    /** Settles when a head was read. */
    async sees(id: string) {
      while (seen.at(-1)?.id !== id) await once(worker, "message");
    },
    /** Every head that was read, each change once. */
    async close(): Promise<readonly Seen[]> {
      // Not terminated: an interrupted statement returns as if there were no row.
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
    `SELECT height, id_text AS id, (SELECT id_text FROM blocks WHERE height = ${forkHeight}) AS forkId
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
