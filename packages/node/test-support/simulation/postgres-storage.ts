/**
 * Webhooks in PostgreSQL: a mirror, an API server with their register, and delivery workers. Faults of the storage kill and stop
 * these processes, and crash the database.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../src/platform/present.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { createLastSequence } from "../../src/store/events/event-log.ts";
import { freePort } from "../peers/world.ts";
import { connect, type PostgresServer, startPostgres } from "../postgres/server.ts";
import type { Running } from "../process/uniknode.ts";
import type { Chronicle } from "./chronicle.ts";
import { beginLife, spawnWithClock } from "./life.ts";
import { createControl, TOKEN } from "./register.ts";
import type { OpenStorage, SimulatedStorage, StorageFault } from "./storage.ts";

const WORKERS = 2;
const FEED_BLOCKS = 1_000;
/** Seconds; the lease of a worker is 10 s longer. */
const CALL_TIMEOUT = 2;
const POLL_MS = 50;
const START_TIMEOUT_MS = 60_000;

/** A process that starts again after each fault. */
type Member = { readonly name: string; restart(): Promise<void>; running(): Running; kill(): Promise<void> };

type Parts = {
  readonly server: PostgresServer;
  readonly postgres: Postgres;
  readonly members: Member[];
  readonly ports: { readonly node: number; readonly server: number };
};

export const openPostgresStorage: OpenStorage = async (folder) => {
  const server = await startPostgres();
  const databaseUrl = await server.createDatabase("simulation");
  const ports = { node: await freePort(), server: await freePort() };
  const parts: Parts = { server, postgres: connect(databaseUrl), members: [], ports };
  let reader: Database | undefined;
  const read = () => present(reader, "a node that was started");
  return {
    faults: faultsOf(parts),
    async begin() {
      const life = await beginLife(folder, {
        port: ports.node,
        args: ["--webhooks", "off", "--feed-blocks", `${FEED_BLOCKS}`],
      });
      reader ??= openDatabase(join(folder, "data", "node.sqlite"), { readonly: true });
      if (parts.members.length === 0) await startMembers(parts, folder, databaseUrl);
      const url = (port: number) => `http://127.0.0.1:${port}`;
      return { ...life, control: createControl(url(ports.node), url(ports.server)) };
    },
    reached: (chronicle) => reached(parts.postgres, read(), chronicle),
    unfinished: () => unfinished(parts.postgres, read()),
    async close() {
      for (const member of parts.members) await member.kill();
      await parts.postgres.close();
      await server.stop();
      reader?.close();
    },
  } satisfies SimulatedStorage;
};

async function startMembers({ postgres, members, ports }: Parts, folder: string, databaseUrl: string) {
  const database = ["--database-url", databaseUrl];
  const node = ["--node", `http://127.0.0.1:${ports.node}`, "--token", TOKEN];
  const targets = ["--webhook-private-targets", "--webhook-timeout", `${CALL_TIMEOUT}`];
  const start = async (name: string, args: readonly string[], ready: (one: Running) => Promise<unknown>) => {
    members.push(await startMember(name, () => spawnWithClock(folder, args), ready));
  };
  await start("mirror", ["mirror", ...database, ...node, "--name", "mirror"], async () => {});
  await waitFor(postgres, "SELECT 1 FROM head, node_identity WHERE phase = 'ready'");
  await postgres.query("UPDATE webhook_register SET owner = 'workers', transfer = 'simulation'");
  const served = [...database, ...node, ...targets, "--http-port", `${ports.server}`, "--rate-limit", "0"];
  await start("server", ["serve", ...served], printedUrl);
  for (let number = 1; number <= WORKERS; number++) {
    const name = ["--name", `worker-${number}`, "--operations-port", "0"];
    await start(`worker-${number}`, ["deliver", ...database, ...targets, ...name], printedUrl);
  }
}

const printedUrl = (process: Running) => process.printed(/(http:\S+)\n/);

async function startMember(
  name: string,
  spawn: () => Running,
  ready: (running: Running) => Promise<unknown>,
): Promise<Member> {
  let current = spawn();
  await ready(current);
  async function kill(): Promise<void> {
    const { exitCode } = current.child;
    current.child.kill("SIGKILL");
    const { stderr } = await current.ended;
    if (exitCode !== null) throw new Error(`${name} ended by itself with code ${exitCode}:\n${stderr}`);
  }
  return {
    name,
    running: () => current,
    kill,
    async restart() {
      await kill();
      current = spawn();
      await ready(current);
    },
  };
}

/** Waits until a statement has a row. */
async function waitFor({ query }: Postgres, sql: string): Promise<void> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  // The tables do not exist at first.
  while ((await query(sql).catch(() => [])).length === 0) {
    if (performance.now() > endMs) throw new Error(`no row within ${START_TIMEOUT_MS} ms: ${sql}`);
    await sleep(POLL_MS);
  }
}

function faultsOf({ members, server }: Parts): StorageFault[] {
  const pick = (name: RegExp) => members.filter((member) => name.test(member.name));
  const killed = (name: string, pattern: RegExp, weight: number): StorageFault => ({
    ...{ name: `${name} killed`, weight },
    inject: (random) => random.pick(pick(pattern)).restart(),
  });
  return [
    killed("mirror", /^mirror/, 3),
    killed("API server", /^server/, 2),
    killed("worker", /^worker/, 5),
    {
      name: "worker stopped",
      weight: 4,
      async inject(random) {
        const { child } = random.pick(pick(/^worker/)).running();
        child.kill("SIGSTOP");
        await sleep(random.integer(100, 3_000));
        child.kill("SIGCONT");
      },
    },
    { name: "database crash", weight: 3, inject: () => server.crash() },
  ];
}

/** Returns the position of the last event that was matched for all webhooks. */
async function reached({ query }: Postgres, node: Database, chronicle: Chronicle): Promise<number> {
  const [row] = await query<{ block: string | null }>(
    `SELECT (SELECT block_id FROM events WHERE sequence <= (SELECT min(matched) FROM shards) AND block_id IS NOT NULL
       ORDER BY sequence DESC LIMIT 1) AS block`,
  );
  // Before the first webhook, nothing is logged.
  if (row?.block == null) return createLastSequence(node)() === 0 ? chronicle.position() : 0;
  return chronicle.positionOf(row.block);
}

type Row = { height: string; id: string; logged: string; matched: string };
type Waiting = { webhook: string; count: string; next: string | null; reason: string | null };

/** Returns descriptions of what the mirror, the matcher and the dispatchers still have to do. */
async function unfinished({ query }: Postgres, node: Database): Promise<string[]> {
  const [row] = await query<Row>(
    `SELECT height, id, last_sequence AS logged, (SELECT min(matched) FROM shards) AS matched FROM head, event_log`,
  );
  const waiting = await query<Waiting>(
    `SELECT webhook, count(*) AS count, min(next_attempt_ms) AS next, max(reason) AS reason
     FROM deliveries JOIN webhooks ON webhooks.id = webhook WHERE state = 'pending' GROUP BY webhook`,
  );
  const { height, id, logged, matched } = present(row, "the head of the mirror");
  const head = present(
    node
      .prepare<{ height: number; id: string }>(
        "SELECT height, id_text AS id FROM blocks ORDER BY height DESC LIMIT 1",
      )
      .get(),
  );
  const uncopied = createLastSequence(node)() - Number(logged);
  const unmatched = Number(logged) - Number(matched);
  return [
    ...(head.id === id ? [] : [`block ${head.height} to be mirrored after ${height}`]),
    ...(uncopied > 0 ? [`${uncopied} events to be copied`] : []),
    ...(unmatched > 0 ? [`${unmatched} events to be matched`] : []),
    ...waiting.map(
      ({ webhook, count, next, reason }) =>
        `${count} deliveries of webhook ${webhook} (next at ${next}, ${reason})`,
    ),
  ];
}
