/** Injects random faults into the real process, kills it again and again, and compares what every receiver has with the chain. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "../../../src/platform/present.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { freePort } from "../../peers/world.ts";
import { apiUrlOf } from "../../process/uniknode.ts";
import { people } from "../actors/cast.ts";
import { setClock, spawnWithClock } from "../actors/clock.ts";
import { type Control, connectTo, createControl, TOKEN } from "../actors/control.ts";
import { createMember, type Member } from "../actors/member.ts";
import { createDraws, type Random } from "../actors/random.ts";
import { createSubmissions } from "../actors/submissions.ts";
import { beginChronicle, type Chronicle, openChronicle } from "../checks/chronicle.ts";
import { kindsOf } from "../checks/kinds.ts";
import { inspectRows } from "../checks/rows.ts";
import { judge } from "../checks/verdict.ts";
import { createFaults, MAX_DEPTH, mustKeepAccepted, type World } from "./faults.ts";
import { settle } from "./settle.ts";
import { registerSubject, type Subject } from "./subject.ts";

export type WebhooksOptions = {
  readonly seed: number;
  /** Seconds of fault injection; the node settles afterwards. */
  readonly seconds: number;
  /** Names of the only faults besides kills; default: all. */
  readonly only?: readonly string[];
  /** Reports progress. */
  readonly log: (line: string) => void;
};

export type WebhooksReport = {
  /** Descriptions of failures. */
  readonly faults: readonly string[];
  readonly blocks: number;
  readonly undone: number;
  /** Requests that receivers read completely, and deliveries among them. */
  readonly arrivals: number;
  readonly deliveries: number;
  readonly kills: number;
  /** Number of occurrences by fault. */
  readonly happened: ReadonlyMap<string, number>;
};

const MIN_LIFE_MS = 500;
const MAX_LIFE_MS = 4_000;
const RESTLESS = 2;
/** Printed failures per webhook. */
const MAX_SHOWN = 5;

/** @throws {Error} if the node loses something that it had stored, or work is left that does not end */
export async function runWebhooks({ seed, seconds, only, log }: WebhooksOptions): Promise<WebhooksReport> {
  const random = createDraws(seed);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-webhooks-"));
  const data = join(folder, "data");
  mkdirSync(data);
  setClock(folder, 0);
  const faults: string[] = [];
  const node = await createNode(folder, (fault) => void faults.push(fault));
  const subjects: Subject[] = [];
  let chronicle: Chronicle | undefined;
  let database: Database | undefined;
  try {
    await node.start();
    beginChronicle(data);
    chronicle = openChronicle(data);
    database = openDatabase(join(data, "node.sqlite"), { readonly: true });
    const control = createControl(node.url);
    // Deep enough for the deepest reorganisation.
    await control.post("/api/dev/mine", { blocks: MAX_DEPTH + 5 });
    const client = await connectTo(node.url);
    const world: World = {
      ...{ folder, random, node, client, control },
      ...(await registerSubjects({ random, control, chronicle, subjects })),
      position: chronicle.position,
      ...{ accepted: new Set(), happened: new Map(), clockAheadMs: 0 },
    };
    log(`${subjects.length} webhooks, faults for ${seconds} s`);
    const kills = await injectFor(seconds, world, { database, only });
    await settle(world, database);
    faults.push(...(await judgeAll(subjects, control, chronicle)));
    await node.end("SIGTERM");
    return reportOf(subjects, chronicle, { faults, kills, happened: world.happened });
  } finally {
    await node.end("SIGKILL");
    database?.close();
    chronicle?.close();
    for (const { receiver } of subjects) await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createNode(
  folder: string,
  onFault: (fault: string) => void,
): Promise<Member & { readonly url: string }> {
  const port = await freePort();
  const args = [
    ...["dev", "--data", join(folder, "data"), "--http-port", `${port}`, "--block-time", "1"],
    ...["--webhook-token", TOKEN, "--log-level", "error"],
  ];
  const spawn = () => spawnWithClock(folder, args);
  const member = createMember({ name: "the node", spawn, ready: apiUrlOf, onFault });
  return { ...member, url: `http://127.0.0.1:${port}` };
}

type Registering = {
  readonly random: Random;
  readonly control: Control;
  readonly chronicle: Chronicle;
  /** Every webhook is added. */
  readonly subjects: Subject[];
};

async function registerSubjects({ random, control, chronicle, subjects }: Registering) {
  const accounts = Array.from({ length: 10 }, (_, index) => people(`account ${index}`));
  const watched = present(accounts[9]);
  const kinds = kindsOf(watched);
  const register = async (chosen: typeof kinds) => {
    const registered: Subject[] = [];
    for (const kind of chosen)
      registered.push(await registerSubject(kind, control, chronicle.position, random));
    subjects.push(...registered);
    return registered;
  };
  // One webhook receives every block, so that there are past events whose order can be checked.
  const everyBlock = present(kinds.find(({ name }) => name === "every block"));
  return {
    kinds,
    steady: await register(kinds),
    restless: await register(Array.from({ length: RESTLESS }, () => random.pick(kinds))),
    historians: await register([everyBlock, random.pick(kinds.filter(({ isRemembered }) => isRemembered))]),
    firstHeight: present(chronicle.changes()[0]).block.height,
    submit: createSubmissions(accounts.slice(0, 5), { watched, people, random }),
  };
}

/** Disturbs the node, and kills it again and again. Returns the number of kills. */
async function injectFor(
  seconds: number,
  world: World,
  { database, only }: { readonly database: Database; readonly only: readonly string[] | undefined },
): Promise<number> {
  const { node, random, accepted } = world;
  const injectFault = createFaults(only);
  let kills = 0;
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs) {
    await node.start();
    const deathMs = performance.now() + MIN_LIFE_MS + random.below(MAX_LIFE_MS - MIN_LIFE_MS);
    const killed = new Promise<void>((resolve, reject) => {
      setTimeout(() => node.end("SIGKILL").then(resolve, reject), deathMs - performance.now());
    });
    // The process may end earlier by itself.
    killed.catch(() => {});
    while (performance.now() < deathMs) await injectFault(world);
    await killed;
    kills++;
    inspectRows(database, mustKeepAccepted(world) ? accepted : new Set());
  }
  await node.start();
  return kills;
}

async function judgeAll(subjects: readonly Subject[], control: Control, chronicle: Chronicle) {
  const changes = chronicle.changes();
  const wallets = chronicle.wallets();
  const faults: string[] = [];
  for (const { id, receiver, periods, replays } of subjects) {
    const { suspended } = (await control.get(`/api/webhooks/${id}?health=true`)) as {
      suspended?: { reason: string };
    };
    if (suspended) faults.push(`webhook ${id} is suspended: ${suspended.reason}`);
    const entries = await control.list<{ messageId: string; sequence?: number }>(
      `/api/webhooks/${id}/deliveries?state=cancelled&limit=100`,
    );
    const cancelled = new Map(entries.map(({ messageId, sequence = 0 }) => [messageId, sequence]));
    const found = judge({ arrivals: receiver.arrivals, periods, replays, changes, cancelled, wallets });
    const shown = found.slice(0, MAX_SHOWN);
    if (found.length > MAX_SHOWN) shown.push(`and ${found.length - MAX_SHOWN} more`);
    faults.push(...shown.map((fault) => `webhook ${id} (${present(periods.at(-1)).kind.name}): ${fault}`));
  }
  return faults;
}

function reportOf(
  subjects: readonly Subject[],
  chronicle: Chronicle,
  counts: Pick<WebhooksReport, "faults" | "kills" | "happened">,
): WebhooksReport {
  const changes = chronicle.changes();
  const arrivals = subjects.flatMap(({ receiver }) => receiver.arrivals);
  return {
    ...counts,
    blocks: changes.filter(({ kind }) => kind === "applied").length,
    undone: changes.filter(({ kind }) => kind === "reverted").length,
    arrivals: arrivals.length,
    deliveries: new Set(arrivals.map(({ message }) => message.id)).size,
  };
}
