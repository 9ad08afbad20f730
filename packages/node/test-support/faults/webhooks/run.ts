/** Injects random faults into the real process, kills it again and again, and compares what every receiver has with the chain. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "../../../src/platform/present.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { freePort } from "../../peers/world.ts";
import { apiUrlOf, spawnUniknode } from "../../process/uniknode.ts";
import { people } from "../actors/cast.ts";
import { clockOptions, setClock } from "../actors/clock.ts";
import { connectTo, createControl, TOKEN } from "../actors/control.ts";
import { createMember, type Member } from "../actors/member.ts";
import { createDraws } from "../actors/random.ts";
import { createSubmissions } from "../actors/submissions.ts";
import { beginChronicle, type Chronicle, openChronicle } from "../checks/chronicle.ts";
import { kindsOf } from "../checks/kinds.ts";
import { inspectRows } from "../checks/rows.ts";
import { judge } from "../checks/verdict.ts";
import { type Report, type Run, type Scenario, shown, weighted } from "../scenario.ts";
import { FAULTS, inject, MAX_DEPTH, mustKeepAccepted, type World } from "./faults.ts";
import { settle } from "./settle.ts";
import { type Register, registerSubject, type Subject } from "./subject.ts";

const MIN_LIFE_MS = 500;
const MAX_LIFE_MS = 4_000;
const RESTLESS = 2;
/** Printed failures per webhook. */
const MAX_SHOWN = 5;

export const scenario: Scenario = {
  description:
    "a dev chain is killed every few seconds; receivers must have the facts of the chain, and the database every accepted transaction",
  minutes: 1,
  faults: FAULTS.map(({ name }) => name),
  run: runWebhooks,
};

/** @throws {Error} if the node loses something that it had stored, or work is left that does not end */
export async function runWebhooks(options: Run): Promise<Report> {
  const { seed, seconds, log } = options;
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
    const register = { random, control, position: chronicle.position };
    const world: World = {
      ...{ ...register, folder, node, client, database, subjects },
      ...(await registerSubjects(register, subjects)),
      firstHeight: present(chronicle.changes()[0]).block.height,
      ...{ accepted: new Set(), happened: new Map(), clockAheadMs: 0 },
    };
    log(`${subjects.length} webhooks, faults for ${seconds} s`);
    const kills = await injectAll(world, options);
    await settle(world);
    faults.push(...(await judgeAll(world, chronicle)));
    await node.end("SIGTERM");
    return { faults, figures: { kills, ...figuresOf(world, chronicle) } };
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
  const spawn = () => spawnUniknode(args, clockOptions(folder));
  const member = createMember({ name: "the node", spawn, ready: apiUrlOf, onFault });
  return { ...member, url: `http://127.0.0.1:${port}` };
}

/** @param subjects gets every webhook */
async function registerSubjects(register: Register, subjects: Subject[]) {
  const { random } = register;
  const accounts = Array.from({ length: 10 }, (_, index) => people(`account ${index}`));
  const watched = present(accounts[9]);
  const kinds = kindsOf(watched);
  const registerAll = async (chosen: typeof kinds) => {
    const registered: Subject[] = [];
    for (const kind of chosen) registered.push(await registerSubject(kind, register));
    subjects.push(...registered);
    return registered;
  };
  // One webhook receives every block, so that there are past events whose order can be checked.
  const everyBlock = present(kinds.find(({ name }) => name === "every block"));
  return {
    kinds,
    steady: await registerAll(kinds),
    restless: await registerAll(Array.from({ length: RESTLESS }, () => random.pick(kinds))),
    historians: await registerAll([
      everyBlock,
      random.pick(kinds.filter(({ isRemembered }) => isRemembered)),
    ]),
    submit: createSubmissions(accounts.slice(0, 5), { watched, people, random }),
  };
}

/** A run on a slow machine ends later instead of showing less. */
const MIN_KILLS = 3;

/** Disturbs the node, and kills it again and again. Returns the number of kills. */
async function injectAll(world: World, { seconds, only }: Run): Promise<number> {
  const { node, random, accepted, database } = world;
  const faults = weighted(FAULTS, only);
  let kills = 0;
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs || kills < MIN_KILLS) {
    await node.start();
    const deathMs = performance.now() + MIN_LIFE_MS + random.below(MAX_LIFE_MS - MIN_LIFE_MS);
    const killed = new Promise<void>((resolve, reject) => {
      setTimeout(() => node.end("SIGKILL").then(resolve, reject), deathMs - performance.now());
    });
    // The process may end earlier by itself.
    killed.catch(() => {});
    while (performance.now() < deathMs) await inject(world, random.pick(faults));
    await killed;
    kills++;
    inspectRows(database, mustKeepAccepted(world) ? accepted : new Set());
  }
  await node.start();
  return kills;
}

async function judgeAll({ subjects, control }: World, chronicle: Chronicle): Promise<string[]> {
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
    const { name } = present(periods.at(-1)).kind;
    faults.push(...shown(found, MAX_SHOWN).map((fault) => `webhook ${id} (${name}): ${fault}`));
  }
  return faults;
}

function figuresOf({ subjects, accepted, happened }: World, chronicle: Chronicle): Record<string, number> {
  const changes = chronicle.changes();
  const arrivals = subjects.flatMap(({ receiver }) => receiver.arrivals);
  return {
    blocks: changes.filter(({ kind }) => kind === "applied").length,
    undone: changes.filter(({ kind }) => kind === "reverted").length,
    accepted: accepted.size,
    arrivals: arrivals.length,
    deliveries: new Set(arrivals.map(({ message }) => message.id)).size,
    ...Object.fromEntries(happened),
  };
}
