/** Processes of database servers in tests, as an unprivileged user: they refuse to run as root. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { present } from "../../src/platform/present.ts";
import { Postgres } from "../../src/postgres/connection.ts";
import { findOpenFolder, SERVER_IDENTITY, UNPRIVILEGED } from "../process/run-folder.ts";
import { until } from "../process/until.ts";

export const USER = "uniknode";

const execute = promisify(execFile);

const place = findOpenFolder();

const PLACE = `a temporary folder that programs of user ${UNPRIVILEGED} can enter`;

/** Returns why servers cannot run here, or undefined. */
export const missingForServers = (): string | undefined =>
  place === undefined ? `${PLACE} is missing` : undefined;

/** Returns the temporary folder for files of servers. */
export const serverPlace = (): string => present(place, PLACE);

/** Makes a file or an empty folder of this process one that the servers can read and write. */
export function giveToServer(path: string): void {
  const { uid, gid } = SERVER_IDENTITY;
  if (uid !== undefined) chownSync(path, uid, gid);
}

/**
 * Creates a folder that the servers can write.
 *
 * @param parent the servers must be able to enter it
 */
export function createServerFolder(parent = serverPlace()): string {
  const folder = mkdtempSync(join(parent, "uniknode-postgres-"));
  giveToServer(folder);
  return folder;
}

export const runAsServer = (program: string, args: readonly string[], cwd: string) =>
  execute(program, args, { ...SERVER_IDENTITY, cwd });

export const spawnAsServer = (program: string, args: readonly string[], cwd: string): ChildProcess =>
  spawn(program, args, { ...SERVER_IDENTITY, cwd, stdio: "ignore" });

export const urlOf = (port: number, database: string): string =>
  `postgres://${USER}@127.0.0.1:${port}/${database}`;

export const INITDB_OPTIONS = [
  ...[
    "-U",
    USER,
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale",
    "C.UTF-8",
    "--locale-provider",
    "icu",
    "--icu-locale",
    "en-US",
    "--no-sync",
  ],
] as const;

/** Durability settings are off: no test depends on surviving a power loss. */
export const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  // Below the data of the server: a killed one leaves no shared memory behind.
  dynamic_shared_memory_type: "mmap",
  fsync: "off",
  max_connections: "50",
  shared_buffers: "32MB",
};

/** Small connection pool for a test. */
export const connect = (url: string): Postgres =>
  new Postgres({
    url,
    applicationName: "test",
    maxConnections: 4,
    statementTimeoutMs: 30_000,
    isCommitAsynchronous: false,
    onConnectionLost: () => {},
  });

/**
 * Starts a server, and waits until it accepts connections. After a crash, it waits for the processes of the one before.
 *
 * @throws {Error} at once if the program cannot be executed
 */
export async function startServer(spawnServer: () => ChildProcess, url: string): Promise<ChildProcess> {
  let child = spawnServer();
  await once(child, "spawn");
  await until(`no connection to ${url}`, async () => {
    // After a crash it ends while processes of the one before still run.
    if (child.exitCode !== null) child = spawnServer();
    const postgres = connect(url);
    try {
      await postgres.query("SELECT 1");
      return true;
    } finally {
      await postgres.close();
    }
  });
  return child;
}

export async function endServer(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (signal === "SIGKILL") killChildren(child);
  child.kill(signal);
  await once(child, "exit");
}

/**
 * Kills the other processes of a server, as the loss of its machine does. If only the main process were killed, a process that waits
 * for a replica would end its commit, and show it to others, before it notices.
 */
function killChildren(child: ChildProcess): void {
  // It must not start others.
  child.kill("SIGSTOP");
  for (const pid of childrenOf(present(child.pid))) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
}

function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  const text = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  return text === "" ? [] : text.split(" ").map(Number);
}

/** Returns settings as arguments of the server. */
export const toArguments = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries({ ...DEFAULT_SETTINGS, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
