/** A dev chain with a feed, in the real process, and a database for its mirrors. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { edgeRoot } from "../../src/facts/merkle/tiles.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, HttpGateway } from "../../src/gateway/http.ts";
import { readCopy } from "../../src/mirror/events/rows.ts";
import { readTree } from "../../src/mirror/facts/tree.ts";
import { readHead } from "../../src/mirror/head.ts";
import { present } from "../../src/platform/present.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { createLastSequence } from "../../src/store/events/event-log.ts";
import { rootAt } from "../facts/root-at.ts";
import { freePort } from "../peers/world.ts";
import { connect, type PostgresServer, startPostgres } from "../postgres/server.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../process/uniknode.ts";
import { until } from "../process/until.ts";
import { compareEvents } from "./events.ts";
import { mirrorTables, nodeTables } from "./tables.ts";

export const TOKEN = "mirror";

export type MirroredDevChain = {
  readonly server: PostgresServer;
  readonly databaseUrl: string;
  readonly postgres: Postgres;
  /** Base URL of the node. */
  readonly url: string;
  /** File of the node's database. */
  readonly nodeDatabase: string;
  /** Runs a dev command of the node. */
  command(name: string, body: Parameters<typeof runDevCommand>[2]): Promise<void>;
  head(): Promise<{ readonly height: number; readonly id: string }>;
  /** Starts a mirror of the node; `closeAll` ends it. */
  startMirror(...args: string[]): Running;
  /** Waits until the mirror has a block that the node has now, or a later one. */
  followed(): Promise<void>;
  /** Makes the node record these events for webhooks of the mirror's database; returns the last event before. */
  recordEvents(names: readonly string[]): Promise<number>;
  /** Stops forging, and compares all rows, the copied events and the trees of facts. */
  compare(): Promise<void>;
  stopNode(): Promise<void>;
  /** Stops the node, and starts it again. */
  restartNode(): Promise<void>;
  closeAll(): Promise<void>;
};

export type MirroredDevChainOptions = {
  /** Number of last blocks in the feed. */
  readonly feedBlocks?: number;
  /** Further arguments of the node. */
  readonly nodeArgs?: readonly string[];
  /** Settings of the PostgreSQL server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Folder for its data. */
  readonly parent?: string | undefined;
};

export async function startMirroredDevChain({
  feedBlocks = 1_000,
  nodeArgs = ["--webhooks", "off"],
  settings = {},
  parent,
}: MirroredDevChainOptions = {}): Promise<MirroredDevChain> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-mirrored-"));
  const server = await startPostgres(settings, parent);
  const databaseUrl = await server.createDatabase("chain");
  const postgres = connect(databaseUrl);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ["--http-port", `${port}`, "--feed-blocks", `${feedBlocks}`, ...nodeArgs];
  const start = () => startNode(folder, args);
  let node = await start().catch(async (error: unknown) => {
    await postgres.close();
    await server.stop();
    throw error;
  });

  const chain: State = { url, postgres, mirrors: [], folder };
  return {
    ...{ server, databaseUrl, postgres, url, nodeDatabase: join(folder, "data", "node.sqlite") },
    command: (name, body) => runDevCommand(url, name, body),
    head: () => head(url),
    recordEvents: (names) => recordEvents(url, names),
    startMirror(...args) {
      const mirror = spawnUniknode([
        "mirror",
        ...["--node", url, "--token", TOKEN, "--database-url", databaseUrl, "--name", "test", ...args],
      ]);
      chain.mirrors.push(mirror);
      return mirror;
    },
    async followed() {
      const { height } = await head(url);
      await waitFor(chain, (mirror) => mirror.height >= height);
    },
    compare: () => compare(chain),
    stopNode: () => end(node),
    async restartNode() {
      await end(node);
      node = await start();
    },
    async closeAll() {
      // Also one that is stopped by SIGSTOP.
      for (const { child, ended } of chain.mirrors) {
        child.kill("SIGKILL");
        await ended;
      }
      await end(node);
      await postgres.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type State = Pick<MirroredDevChain, "url" | "postgres"> & {
  readonly folder: string;
  /** Every mirror that was started; some have ended. */
  readonly mirrors: Running[];
};

async function read(url: string, path: string): Promise<unknown> {
  const response = await fetch(`${url}/api/v2${path}`);
  assert.equal(response.status, 200, path);
  return ((await response.json()) as { data: unknown }).data;
}

const head = async (url: string) =>
  ((await read(url, "/blockchain")) as { block: { height: number; id: string } }).block;

/** On a busy machine, a node needs too long for more blocks in one request. */
const MAX_MINED = 10;

/** Runs a command of the dev chain on its node, or on an API server. */
export async function runDevCommand(
  url: string,
  name: string,
  body: { readonly blocks?: number; readonly [member: string]: unknown },
): Promise<void> {
  const { blocks = 1 } = body;
  if (name === "mine" && blocks > MAX_MINED) {
    await runDevCommand(url, name, { blocks: MAX_MINED });
    return runDevCommand(url, name, { blocks: blocks - MAX_MINED });
  }
  const response = await fetch(`${url}/api/v2/dev/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: TOKEN },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, `${name}: ${await response.text()}`);
}

async function waitFor(
  { postgres, mirrors }: State,
  isReached: (mirror: { height: number; id: string }) => boolean,
): Promise<void> {
  let height: number | undefined;
  await until(
    () => `the mirror is at block ${height}: ${mirrors.at(-1)?.stderr()}`,
    // The database can be down.
    async () => {
      const mirror = await readHead(postgres);
      height = mirror?.height;
      return mirror?.phase === "ready" && isReached(mirror);
    },
  );
}

/** Makes a node record these events for webhooks of another database; returns the last event before. */
export async function recordEvents(url: string, names: readonly string[]): Promise<number> {
  const remote = new HttpGateway(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, urls: [url], token: TOKEN },
    { onChange: () => {} },
  );
  const { lastSequence } = await remote.gateway.replaceRemoteNames(names);
  await remote.close();
  return lastSequence;
}

/** Waits until the copy has the last event of the node. */
async function waitForEvents({ postgres, mirrors }: State, last: number): Promise<void> {
  let copied: number | undefined;
  await until(
    () => `the last copied event is ${copied}, not ${last}: ${mirrors.at(-1)?.stderr()}`,
    async () => {
      copied = (await readCopy(postgres)).sequence;
      return copied === last;
    },
  );
}

async function compare(chain: State): Promise<void> {
  const { url, postgres, folder } = chain;
  await runDevCommand(url, "forge", { enabled: false });
  const { id } = await head(url);
  await waitFor(chain, (mirror) => mirror.id === id);
  const database = openDatabase(join(folder, "data", "node.sqlite"), { readonly: true });
  await compareTables(database, postgres);
  await compareFacts(database, postgres);
  await waitForEvents(chain, createLastSequence(database)());
  await compareEvents(database, postgres);
  database.close();
  await runDevCommand(url, "forge", { enabled: true });
}

async function startNode(folder: string, args: readonly string[]): Promise<Running> {
  const node = spawnUniknode([
    ...["dev", "--data", join(folder, "data"), "--block-time", "1", "--webhook-token", TOKEN],
    ...args,
  ]);
  await apiUrlOf(node);
  return node;
}

async function end({ child, ended }: Running): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}

/** Compares all rows of a node and of a mirror with the same head. */
export async function compareTables(database: Database, postgres: Postgres): Promise<void> {
  const mirrored = await mirrorTables(postgres);
  for (const [table, rows] of Object.entries(nodeTables(database))) {
    assert.deepEqual(mirrored[table], rows, table);
  }
}

/**
 * Compares the trees of facts. The trees of both grow at different times: the roots are compared at the size of the smaller one.
 *
 * @returns the root, in hexadecimal digits
 */
export async function compareFacts(database: Database, postgres: Postgres): Promise<string> {
  const { edge, root } = await until("the tree of the node has the facts of the mirror", async () => {
    const { edge } = await readTree(postgres.query);
    const root = rootAt(database, edge.size);
    return root && { edge, root };
  });
  const text = Buffer.from(root).toString("hex");
  assert.equal(Buffer.from(present(edgeRoot(edge))).toString("hex"), text);
  return text;
}
