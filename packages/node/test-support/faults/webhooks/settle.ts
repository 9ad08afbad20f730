/** Ends all faults of a node, and waits until every delivery has ended. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import type { Database } from "../../../src/store/engine/database.ts";
import { setClock } from "../../process/clock.ts";
import type { Control } from "../actors/control.ts";
import { comeBack, replay } from "../actors/subject.ts";
import { untilDone } from "../scenario.ts";
import type { World } from "./world.ts";

/** A height above every head. */
const MAX_HEIGHT = 1_000_000;
/** After this time, postponed retries are due; a webhook is suspended only after five days. */
const HOUR_MS = 3_600_000;
/** Twice the interval at which the process reads its clock file. */
const CLOCK_LAG_MS = 100;

/**
 * Makes every receiver healthy and advances time until nothing is queued; then some webhooks request a replay
 * of the whole chain.
 */
export async function settle(world: World): Promise<void> {
  const { subjects, restless, historians, firstHeight, control } = world;
  for (const { receiver } of subjects) await receiver.become("well");
  await control.post("/api/dev/forge", { enabled: false });
  for (const subject of restless) await comeBack(subject, world);
  await deliverAll(world);
  for (const { id } of historians)
    if ((await replayOf(control, id)).state === "running") await control.remove(`/api/webhooks/${id}/replay`);
  for (const subject of historians)
    await replay(subject, { fromHeight: firstHeight, toHeight: MAX_HEIGHT }, world);
  await deliverAll(world);
  for (const { id, replays } of historians) {
    let shown = await replayOf(control, id);
    for (; shown.state === "running"; shown = await replayOf(control, id)) await sleep(50);
    // The replay ends with the last block that the webhook could receive when it was requested.
    const { state, toHeight } = shown;
    if (state === "finished") replays.push({ ...present(replays.at(-1)), toHeight, isFinished: true });
  }
  await deliverAll(world);
}

/** Returns the replay of a webhook; its state is empty if none was requested. */
const replayOf = async (control: Control, id: number) =>
  (await control.get(`/api/webhooks/${id}/replay`).catch(() => ({ state: "", toHeight: 0 }))) as {
    readonly state: string;
    readonly toHeight: number;
  };

/** Advances time until nothing is queued. */
async function deliverAll(world: World): Promise<void> {
  await resume(world);
  await untilDone(
    async () => unfinished(world.database),
    async () => {
      // Suspensions and retention depend on the wall clock.
      world.clockAheadMs += HOUR_MS;
      setClock(world.folder, world.clockAheadMs);
      await sleep(CLOCK_LAG_MS);
      await resume(world);
    },
  );
}

/**
 * Sends failed and waiting deliveries at once: these count the time by a monotonic clock, which does not follow the wall
 * clock. With the next block, every queue reads the wall clock.
 */
async function resume(world: World): Promise<void> {
  const { control, restless, subjects } = world;
  await control.post("/api/dev/mine", { blocks: 1 });
  for (const subject of restless) {
    const { suspended } = (await control.get(`/api/webhooks/${subject.id}?health=true`)) as {
      suspended?: unknown;
    };
    // A request that ended before its receiver came back.
    if (suspended !== undefined) await comeBack(subject, world);
  }
  for (const { id } of subjects)
    await control.post(`/api/webhooks/${id}/deliveries/retry`, { since: 0, state: "all" });
}

type Waiting = { webhook: number; count: number; nextMs: number | null; reason: string | null };

/** Returns descriptions of unread events, and of queued deliveries. */
function unfinished(database: Database): string[] {
  const waiting = database.prepare<Waiting>(
    `SELECT webhook, count(*) AS count, min(next_attempt_ms) AS nextMs, max(reason) AS reason
     FROM deliveries JOIN webhooks ON webhooks.id = webhook WHERE state = 'pending' GROUP BY webhook`,
  );
  const events = database.prepare<{ unread: number }>(
    `SELECT (SELECT coalesce(max(sequence), 0) FROM events)
       - coalesce((SELECT sequence FROM cursors WHERE reader = 'webhooks'), 0) AS unread`,
  );
  const { unread } = present(events.get());
  return [
    ...(unread > 0 ? [`${unread} events to be read`] : []),
    ...waiting
      .all()
      .map(
        ({ webhook, count, nextMs, reason }) =>
          `${count} deliveries of webhook ${webhook} (next at ${nextMs}, ${reason})`,
      ),
  ];
}
