/**
 * Injects random faults into the real process, lets it settle, and compares what every receiver has with the
 * chain.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { inspectChain, inspecting } from "../crash/inspect.ts";
import { beginChronicle, type Change, type Chronicle, openChronicle } from "./chronicle.ts";
import { disturb, MAX_DEPTH, type World } from "./disturbances.ts";
import { factsOf } from "./facts.ts";
import { kindsOf } from "./kinds.ts";
import { type Life, setClock } from "./life.ts";
import { createDraws } from "./random.ts";
import type { DeliveryEntry } from "./register.ts";
import { openSqliteStorage } from "./sqlite-storage.ts";
import { type OpenStorage, type Positions, positionsOf, type SimulatedStorage } from "./storage.ts";
import { comeBack, registerSubject, replay, type Subject } from "./subject.ts";
import { createSubmissions } from "./submissions.ts";
import { judge } from "./verdict.ts";

export type SimulationOptions = {
  readonly seed: number;
  /** Seconds of fault injection; the node settles afterwards. */
  readonly seconds: number;
  /** Reports progress. */
  readonly log: (line: string) => void;
  /** Storage of the webhooks. Default: the database of the node. */
  readonly openStorage?: OpenStorage;
};

export type SimulationReport = {
  /** Descriptions of failures. */
  readonly faults: readonly string[];
  readonly blocks: number;
  readonly undone: number;
  /** Requests that receivers read completely, and deliveries among them. */
  readonly arrivals: number;
  readonly deliveries: number;
  readonly kills: number;
  /** Number of occurrences by fault, of the node and of its chain. */
  readonly happened: ReadonlyMap<string, number>;
  readonly facts: ReadonlyMap<string, number>;
};

/** Default: that of the dev chain. */
const MNEMONIC = "test test test test test test test test test test test junk";
const MIN_LIFE_MS = 500;
const MAX_LIFE_MS = 4_000;
/** After so long without progress, no more is expected. */
const STALL_MS = 30_000;
/** A height above every head. */
const MAX_HEIGHT = 1_000_000;
/** After this time, postponed retries are due; a webhook is suspended only after five days. */
const HOUR_MS = 3_600_000;
const RESTLESS = 2;
/** Twice the interval at which the process reads its clock file. */
const CLOCK_LAG_MS = 100;
/** Printed failures per webhook. */
const MAX_SHOWN = 5;

export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { seed, seconds, log, openStorage = openSqliteStorage } = options;
  const random = createDraws(seed);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-simulation-"));
  mkdirSync(join(folder, "data"));
  const subjects: Subject[] = [];
  let chronicle: Chronicle | undefined;
  let life: Life | undefined;
  let storage: SimulatedStorage | undefined;
  try {
    setClock(folder, 0);
    storage = await openStorage(folder);
    life = await storage.begin();
    beginChronicle(join(folder, "data"));
    chronicle = openChronicle(join(folder, "data"));
    // Deep enough for the deepest reorganisation.
    await life.control.post("/api/dev/mine", { blocks: MAX_DEPTH + 5 });
    const world = await createWorld({ folder, chronicle, storage, random, subjects }, life);
    log(`${subjects.length} webhooks, mishaps for ${seconds} s`);

    let kills = 0;
    const endMs = performance.now() + seconds * 1_000;
    while (performance.now() < endMs) {
      life ??= await storage.begin();
      const deathMs = performance.now() + MIN_LIFE_MS + random.below(MAX_LIFE_MS - MIN_LIFE_MS);
      const { kill } = life;
      const killed = new Promise<void>((resolve, reject) => {
        setTimeout(() => kill().then(resolve, reject), deathMs - performance.now());
      });
      // The process may end earlier by itself.
      killed.catch(() => {});
      while (performance.now() < deathMs) await disturb(world, life);
      await killed;
      life = undefined;
      kills++;
      inspecting(join(folder, "data"), inspectChain);
    }
    life = await storage.begin();
    await makePeace(world, storage, life);
    const faults = await judgeAll(subjects, life, chronicle);
    await life.stop();
    life = undefined;
    return reportOf(subjects, chronicle, faults, kills, world.happened);
  } finally {
    await life?.kill().catch(() => {});
    await storage?.close();
    chronicle?.close();
    for (const { receiver } of subjects) await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Beginning = Pick<World, "folder" | "random"> & {
  readonly chronicle: Chronicle;
  readonly storage: SimulatedStorage;
  /** Every webhook is added. */
  readonly subjects: Subject[];
};

async function createWorld(
  { folder, chronicle, storage, random, subjects }: Beginning,
  { control }: Life,
): Promise<World> {
  const positions: Positions = positionsOf(storage, chronicle);
  const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
  const accounts = Array.from({ length: 10 }, (_, index) => people(`account ${index}`));
  const watched = present(accounts[9]);
  const kinds = kindsOf(watched);
  const register = async (kind: (typeof kinds)[number]) => {
    const subject = await registerSubject(kind, control, positions, random);
    subjects.push(subject);
    return subject;
  };
  const steady: Subject[] = [];
  for (const kind of kinds) steady.push(await register(kind));
  const restless: Subject[] = [];
  for (let count = 0; count < RESTLESS; count++) restless.push(await register(random.pick(kinds)));
  const historians: Subject[] = [];
  const remembered = kinds.filter(({ isRemembered }) => isRemembered);
  // One webhook receives every block, so that there are past events whose order can be checked.
  const everyBlock = present(kinds.find(({ name }) => name === "every block"));
  for (const kind of [everyBlock, random.pick(remembered)]) historians.push(await register(kind));
  return {
    folder,
    random,
    positions,
    storageFaults: storage.faults,
    kinds,
    steady,
    restless,
    historians,
    firstHeight: present(chronicle.changes()[0]).block.height,
    submit: createSubmissions(accounts.slice(0, 5), { watched, people, random }),
    happened: new Map(),
    clockAheadMs: 0,
  };
}

/**
 * Makes every receiver healthy and advances time until nothing is queued; then some webhooks request a replay
 * of the whole chain.
 */
async function makePeace(world: World, storage: SimulatedStorage, life: Life): Promise<void> {
  const { steady, restless, historians, firstHeight, positions } = world;
  const { control } = life;
  for (const { receiver } of [...steady, ...restless, ...historians]) await receiver.become("well");
  await control.post("/api/dev/forge", { enabled: false });
  for (const subject of restless) await comeBack(subject, control, positions);
  await waitForPeace(world, storage, life);
  for (const { id } of historians) {
    const { state } = (await control.get(`/api/webhooks/${id}/replay`).catch(() => ({}))) as {
      state?: string;
    };
    if (state === "running") await control.remove(`/api/webhooks/${id}/replay`);
  }
  for (const subject of historians) {
    await replay(subject, { fromHeight: firstHeight, toHeight: MAX_HEIGHT }, control, positions);
  }
  await waitForPeace(world, storage, life);
  for (const { id, replays } of historians) {
    const path = `/api/webhooks/${id}/replay`;
    const look = async () => (await control.get(path)) as { state: string; toHeight: number };
    let shown = await look();
    while (shown.state === "running") {
      await sleep(50);
      shown = await look();
    }
    // The replay ends with the last block that the webhook could receive when it was requested.
    const { state, toHeight } = shown;
    if (state === "finished") replays.push({ ...present(replays.at(-1)), toHeight, isFinished: true });
  }
  await waitForPeace(world, storage, life);
}

/** Advances time until nothing is queued. */
async function waitForPeace(world: World, storage: SimulatedStorage, { control }: Life): Promise<void> {
  const { steady, restless, historians, positions, folder } = world;
  const subjects = [...steady, ...restless, ...historians];
  /**
   * Sends failed and waiting deliveries at once: these count the time by a monotonic clock, which does not follow the wall
   * clock. With the next block, every queue reads the wall clock.
   */
  const resume = async () => {
    await control.post("/api/dev/mine", { blocks: 1 });
    for (const subject of restless) {
      const { suspended } = (await control.get(`/api/webhooks/${subject.id}?health=true`)) as {
        suspended?: unknown;
      };
      // A request that ended before its receiver came back.
      if (suspended !== undefined) await comeBack(subject, control, positions);
    }
    for (const { id } of subjects)
      await control.post(`/api/webhooks/${id}/deliveries/retry`, { since: 0, state: "all" });
  };
  await resume();
  let left = "";
  let changedMs = performance.now();
  while (!(await isPeaceful(storage))) {
    const stillLeft = (await storage.unfinished()).join(", ");
    if (stillLeft !== left) changedMs = performance.now();
    left = stillLeft;
    if (performance.now() > changedMs + STALL_MS) {
      throw new Error(`nothing happens any more at ${Date.now() + world.clockAheadMs}: ${left}`);
    }
    // Suspensions and retention depend on the wall clock.
    world.clockAheadMs += HOUR_MS;
    setClock(folder, world.clockAheadMs);
    await sleep(CLOCK_LAG_MS);
    await resume();
  }
}

/** Returns true if nothing is left to do within a second. */
async function isPeaceful({ unfinished }: SimulatedStorage): Promise<boolean> {
  for (let look = 0; look < 20; look++) {
    if ((await unfinished()).length === 0) return true;
    await sleep(50);
  }
  return false;
}

async function judgeAll(subjects: readonly Subject[], { control }: Life, chronicle: Chronicle) {
  const changes = chronicle.changes();
  const wallets = chronicle.wallets();
  const faults: string[] = [];
  for (const { id, receiver, periods, replays } of subjects) {
    const { suspended } = (await control.get(`/api/webhooks/${id}?health=true`)) as {
      suspended?: { reason: string };
    };
    if (suspended) faults.push(`webhook ${id} is suspended: ${suspended.reason}`);
    const entries = await control.list<DeliveryEntry>(
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
  faults: readonly string[],
  kills: number,
  happened: ReadonlyMap<string, number>,
): SimulationReport {
  const changes = chronicle.changes();
  const arrivals = subjects.flatMap(({ receiver }) => receiver.arrivals);
  return {
    faults,
    blocks: changes.filter(({ kind }) => kind === "applied").length,
    undone: changes.filter(({ kind }) => kind === "reverted").length,
    arrivals: arrivals.length,
    deliveries: new Set(arrivals.map(({ message }) => message.id)).size,
    kills,
    happened,
    facts: countFacts(changes),
  };
}

function countFacts(changes: readonly Change[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, block } of changes) {
    if (kind === "reverted") continue;
    for (const { name } of factsOf(block)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
