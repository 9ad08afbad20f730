/** Ends all faults and the load, and waits until nothing is left to do. */
import { present } from "../../../src/platform/present.ts";
import { createLastSequence } from "../../../src/store/events/event-log.ts";
import type { Subject } from "../actors/subject.ts";
import { untilDone } from "../scenario.ts";
import { type Cluster, handOver } from "./cluster.ts";

/** Clocks of the workers are advanced by this time if nothing happens. */
const STEP_MS = 900_000;

/** Makes everything healthy, and stops the creation of blocks. */
export async function heal(cluster: Cluster, webhooks: readonly Subject[]): Promise<void> {
  for (const { receiver } of webhooks) await receiver.become("well");
  await cluster.database.ensureRunning();
  for (const { links } of cluster.members) for (const link of links) link.become("open");
  for (const member of cluster.members) await member.start();
  await handOver(cluster, "workers");
  await cluster.chain.control.post("/api/dev/forge", { enabled: false });
}

/**
 * Waits until the mirror and the workers have done everything.
 *
 * @throws {Error} that names what is left, if nothing happens
 */
export async function settle(cluster: Cluster, log: (line: string) => void): Promise<void> {
  let [aheadMs, logged] = [0, ""];
  await untilDone(
    () => unfinished(cluster),
    (left) => {
      if (left !== logged) log(`waiting for ${left}`);
      logged = left;
      aheadMs += STEP_MS;
      for (const worker of cluster.workers) cluster.setClock(worker, aheadMs);
    },
  );
}

type Waiting = { webhook: string; count: number; reason: string | null };

/** Returns descriptions of pending work. */
async function unfinished({ chain, database: { postgres } }: Cluster): Promise<string[]> {
  const { query } = postgres;
  const sql = "SELECT id_text AS id FROM blocks ORDER BY height DESC LIMIT 1";
  const head = present(chain.database.prepare<{ id: string }>(sql).get()).id;
  const [row] = await query<{ copied: string; matched: string; head: string }>(
    `SELECT last_sequence AS copied, (SELECT min(matched) FROM shards) AS matched, (SELECT id FROM head) AS head
     FROM event_log`,
  );
  const waiting = await query<Waiting>(
    `SELECT webhook, count(*)::integer AS count, max(reason) AS reason FROM deliveries WHERE state = 'pending'
     GROUP BY webhook ORDER BY webhook`,
  );
  const last = createLastSequence(chain.database)();
  const [copied, matched] = [Number(row?.copied), Number(row?.matched)];
  return [
    ...(row?.head === head ? [] : [`block ${head} to be mirrored after ${row?.head}`]),
    ...(copied < last ? [`${last - copied} events to be copied`] : []),
    ...(matched < copied ? [`${copied - matched} events to be matched`] : []),
    ...waiting.map(({ webhook, count, reason }) => `${count} deliveries of webhook ${webhook} (${reason})`),
  ];
}
