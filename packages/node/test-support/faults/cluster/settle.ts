/** Ends all faults and the load, and waits until nothing is left to do. */
import { present } from "../../../src/platform/present.ts";
import { createLastSequence } from "../../../src/store/events/event-log.ts";
import { untilDone } from "../scenario.ts";
import type { Cluster } from "./cluster.ts";
import { handOver } from "./hand-over.ts";
import type { ClusterWebhook } from "./webhooks.ts";

/** Clocks of the workers are advanced by this time if nothing happens. */
const STEP_MS = 900_000;

/** Makes everything healthy, and stops the creation of blocks. */
export async function heal(cluster: Cluster, webhooks: readonly ClusterWebhook[]): Promise<void> {
  for (const { receiver } of webhooks) await receiver.become("well");
  await cluster.database.ensureRunning();
  for (const { links } of cluster.members) for (const link of links) link.become("open");
  for (const member of cluster.members) {
    member.resume();
    await member.start();
  }
  await handOver(cluster, "workers");
  await cluster.chain.control.post("/api/dev/forge", { enabled: false });
}

/**
 * Waits until the mirror and the workers have done everything.
 *
 * @throws {Error} that names what is left, if nothing happens
 */
export async function settle(
  { chain, database, workers }: Cluster,
  log: (line: string) => void,
): Promise<void> {
  const lastSequence = createLastSequence(chain.database);
  const head = chain.database.prepare<{ id: string }>(
    "SELECT id_text AS id FROM blocks ORDER BY height DESC LIMIT 1",
  );
  let [aheadMs, logged] = [0, ""];
  await untilDone(
    () => unfinished(database, { last: lastSequence(), head: present(head.get()).id }),
    (left) => {
      if (left !== logged) log(`waiting for ${left}`);
      logged = left;
      aheadMs += STEP_MS;
      for (const worker of workers) worker.setClock(aheadMs);
    },
  );
}

type Waiting = { webhook: string; count: number; reason: string | null };

/** Returns descriptions of pending work. */
async function unfinished(
  { postgres }: Cluster["database"],
  { last, head }: { readonly last: number; readonly head: string },
): Promise<string[]> {
  const { query } = postgres;
  const [row] = await query<{ copied: string; matched: string; head: string }>(
    `SELECT last_sequence AS copied, (SELECT min(matched) FROM shards) AS matched, (SELECT id FROM head) AS head
     FROM event_log`,
  );
  const waiting = await query<Waiting>(
    `SELECT webhook, count(*)::integer AS count, max(reason) AS reason FROM deliveries WHERE state = 'pending'
     GROUP BY webhook ORDER BY webhook`,
  );
  const [copied, matched] = [Number(row?.copied), Number(row?.matched)];
  return [
    ...(row?.head === head ? [] : [`block ${head} to be mirrored after ${row?.head}`]),
    ...(copied < last ? [`${last - copied} events to be copied`] : []),
    ...(matched < copied ? [`${copied - matched} events to be matched`] : []),
    ...waiting.map(({ webhook, count, reason }) => `${count} deliveries of webhook ${webhook} (${reason})`),
  ];
}
