/** The world of the scenario: a dev chain, webhooks with their receivers, notes about what happened, and the end of all faults. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import { setClock } from "../../process/clock.ts";
import type { DevChain } from "../actors/dev-chain.ts";
import { Receiver } from "../actors/receiver.ts";
import { Subject } from "../actors/subject.ts";
import { createSubmissions, watched } from "../actors/submissions.ts";
import { kindsOf } from "../checks/kinds.ts";
import { type Run, untilDone } from "../scenario.ts";

const RESTLESS = 2;
const MAX_HEIGHT = 1_000_000;
/** After this time, postponed retries are due; a webhook is suspended only after five days. */
const HOUR_MS = 3_600_000;
/** Twice the interval at which the process reads its clock file. */
const CLOCK_LAG_MS = 100;

export type World = Awaited<ReturnType<typeof createWorld>>;

/** @param subjects gets every webhook */
export async function createWorld({ random, folder }: Run, chain: DevChain, subjects: Subject[]) {
  const kinds = kindsOf(watched);
  const registerAll = async (chosen: typeof kinds) => {
    const registered: Subject[] = [];
    for (const kind of chosen) {
      const subject = new Subject(await Receiver.start(random), chain);
      subjects.push(subject);
      await subject.register(kind);
      registered.push(subject);
    }
    return registered;
  };
  // One webhook receives every block, so that there are past events whose order can be checked.
  const everyBlock = present(kinds.find(({ name }) => name === "every block"));
  const remembered = kinds.filter(({ isRemembered }) => isRemembered);
  return {
    ...{ ...chain, random, folder, kinds, subjects },
    /** Webhooks that keep their kind. */
    steady: await registerAll(kinds),
    /** Webhooks that change their kind, and are absent temporarily. */
    restless: await registerAll(Array.from({ length: RESTLESS }, () => random.pick(kinds))),
    /** Webhooks that keep their kind, and request replays. */
    historians: await registerAll([everyBlock, random.pick(remembered)]),
    /** Height of the first block whose facts the chronicle has. */
    firstHeight: present(chain.chronicle.changes()[0]).block.height,
    submit: createSubmissions(random, chain),
    /** Ids of the transactions that the node has accepted. */
    accepted: new Set<string>(),
    /** Number of occurrences by fault. */
    happened: new Map<string, number>(),
    /** Clock of the machine, as the node sees it. */
    clockAheadMs: 0,
  };
}

export function moveClock(world: World, byMs: number): void {
  world.clockAheadMs += byMs;
  setClock(world.folder, world.clockAheadMs);
}

/** Makes every receiver healthy and advances time until nothing is queued; then some webhooks request a replay of the whole chain. */
export async function settle(world: World): Promise<void> {
  const { subjects, restless, historians, firstHeight, client } = world;
  for (const { receiver } of subjects) await receiver.become("well");
  await client.dev.forge({ enabled: false });
  for (const subject of restless) await subject.comeBack();
  await deliverAll(world);
  for (const { id } of historians)
    if ((await replayOf(world, id))?.state === "running") await client.webhooks.cancelReplay(id);
  for (const subject of historians) await subject.replay(firstHeight, MAX_HEIGHT);
  await deliverAll(world);
  for (const { id, replays } of historians) {
    let shown = await replayOf(world, id);
    for (; shown?.state === "running"; shown = await replayOf(world, id)) await sleep(50);
    if (shown?.state !== "finished") continue;
    // The replay ends with the last block that the webhook could receive when it was requested.
    replays.push({ ...present(replays.at(-1)), toHeight: shown.toHeight, isFinished: true });
  }
  await deliverAll(world);
}

const replayOf = ({ client }: World, id: number) =>
  client.webhooks.getReplay(id).then(
    ({ data }) => data,
    () => undefined,
  );

async function deliverAll(world: World): Promise<void> {
  await resume(world);
  await untilDone(
    async () => unfinished(world),
    async () => {
      // Suspensions and retention depend on the wall clock.
      moveClock(world, HOUR_MS);
      await sleep(CLOCK_LAG_MS);
      await resume(world);
    },
  );
}

/** Sends failed and waiting deliveries at once, because their clock is monotonic. With a block, every queue reads the wall clock. */
async function resume({ client, restless, subjects }: World): Promise<void> {
  await client.dev.mine();
  for (const subject of restless) {
    // A request that ended before its receiver came back.
    if ((await subject.suspended()) !== undefined) await subject.comeBack();
  }
  for (const { id } of subjects) await client.webhooks.retryAll(id, { state: "all" });
}

function unfinished({ database }: World): string[] {
  const rows = database.prepare<{ description: string }>(
    `SELECT unread || ' events to be read' AS description
     FROM (SELECT (SELECT coalesce(max(sequence), 0) FROM events)
       - coalesce((SELECT sequence FROM cursors WHERE reader = 'webhooks'), 0) AS unread) WHERE unread > 0
     UNION ALL SELECT format('%d deliveries of webhook %d (next at %s, %s)',
       count(*), webhook, coalesce(min(next_attempt_ms), 'null'), coalesce(max(reason), 'null'))
     FROM deliveries JOIN webhooks ON webhooks.id = webhook WHERE state = 'pending' GROUP BY webhook`,
  );
  return rows.all().map(({ description }) => description);
}
