/** The example receivers, each as a program of its own that a test can restart. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signingSecretOf } from "../../src/webhooks/model/message.ts";
import { freePort } from "../peers/world.ts";
import { missingProgram } from "../process/available.ts";
import { until, WAIT_MS } from "../process/until.ts";
import { TOKEN } from "./receiver.ts";

const FOLDER = join(import.meta.dirname, "../../../../examples/receivers");

type CommandLine = readonly [program: string, ...args: string[]];

export type Language = {
  readonly name: string;
  /** Fails if the language is not installed. */
  readonly probe: CommandLine;
  /** Compiles the program into a folder. */
  readonly build?: (folder: string) => CommandLine;
  readonly start: (port: number, folder: string) => CommandLine;
};

const file = (name: string): string => join(FOLDER, name);

export const LANGUAGES: readonly Language[] = [
  {
    name: "JavaScript",
    probe: [process.execPath, "--version"],
    start: () => [process.execPath, file("receiver.mjs")],
  },
  { name: "Python", probe: ["python3", "--version"], start: () => ["python3", file("receiver.py")] },
  {
    name: "PHP",
    probe: ["php", "-r", 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);'],
    start: (port) => ["php", "-S", `127.0.0.1:${port}`, file("receiver.php")],
  },
  { name: "Ruby", probe: ["ruby", "-e", 'require "webrick"'], start: () => ["ruby", file("receiver.rb")] },
  {
    name: "Go",
    probe: ["go", "version"],
    build: (folder) => ["go", "build", "-o", join(folder, "receiver"), file("receiver.go")],
    start: (_port, folder) => [join(folder, "receiver")],
  },
];

const run = ([program, ...args]: CommandLine) =>
  spawnSync(program, args, { timeout: WAIT_MS, encoding: "utf8" });

/** Returns why a language cannot be used here, or undefined. */
export const missingLanguage = ({ probe: [program, ...args] }: Language): string | undefined =>
  missingProgram(program, args);

export type ExampleReceiver = {
  readonly url: string;
  restart(): Promise<void>;
  close(): Promise<void>;
};

/** Starts a receiver whose database survives its restarts. */
export async function startExample(language: Language): Promise<ExampleReceiver> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-receiver-"));
  const { status, stderr } = language.build ? run(language.build(folder)) : { status: 0, stderr: "" };
  if (status !== 0) throw new Error(`${language.name}: ${stderr}`);
  const port = await freePort();
  let child = await startProcess(language, folder, port);
  return {
    url: `http://127.0.0.1:${port}/`,
    async restart() {
      await stop(child);
      // Its workers end a moment later, and still accept connections until then.
      await until(`${language.name} still listens`, async () => !(await isListening(port)));
      child = await startProcess(language, folder, port);
    },
    async close() {
      await stop(child);
      rmSync(folder, { recursive: true });
    },
  };
}

async function startProcess(language: Language, folder: string, port: number): Promise<ChildProcess> {
  const [program, ...args] = language.start(port, folder);
  const child = spawn(program, args, {
    env: {
      ...process.env,
      ...{
        PORT: `${port}`,
        WEBHOOK_SECRET: signingSecretOf(TOKEN),
        DATABASE: join(folder, "database"),
        CONFORM: "1",
      },
      PHP_CLI_SERVER_WORKERS: "4",
    },
    stdio: "ignore",
    // Its workers end with it.
    detached: true,
  });
  await until(`${language.name} does not listen`, () => isListening(port));
  return child;
}

/** Ends the process as a crash would. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, "SIGKILL");
  await ended;
}

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection(port, "127.0.0.1");
  const isConnected = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}
