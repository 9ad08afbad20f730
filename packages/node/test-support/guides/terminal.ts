/**
 * Reader at a terminal, in an empty folder: runs the commands of a page in a shell, and keeps long-running
 * ones open until they are stopped.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { present } from "../../src/platform/present.ts";
import { freePort } from "../peers/world.ts";
import { until, WAIT_MS } from "../process/until.ts";
import { ROOT } from "./page.ts";

export type Terminal = {
  readonly folder: string;
  /** Values of placeholders, by name. */
  readonly values: Record<string, string>;
  /** Sets variables for all later commands. */
  readonly environment: NodeJS.ProcessEnv;
  /**
   * Runs a command. Settles when it has ended, or is ready if it runs until it is stopped. A dev chain that
   * is started stops the one before; returns true then.
   */
  type(command: string): Promise<boolean>;
  /** Runs a command that is not on the page, and returns its output. */
  ask(command: string): Promise<string>;
  /** Output of the last command, preceded by that of everything that is still running. */
  screens(): readonly string[];
  /** Stops the commands that are still running. */
  close(): Promise<void>;
};

type Service = {
  readonly isChain: boolean;
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
  readonly printed: () => string;
};

const NODE_PORT = "4003";
const COMPANION_PORT = "8080";
/** URL at which pages expect a receiver that accepts everything. */
const RECEIVER_PORT = "8000";
/** Ports of pages, replaced by free ones, so that other programs on the machine do not interfere. */
const PORTS = [NODE_PORT, RECEIVER_PORT, COMPANION_PORT, "5005", "4004", "4020", "4101", "4102", "4103"];

type Kind = {
  readonly command: RegExp;
  readonly ready: RegExp;
  readonly isNode?: boolean;
  readonly isChain?: boolean;
};

/** Commands that run until they are stopped, and their output when they are ready. */
const SERVICES: readonly Kind[] = [
  {
    command: /^npm start$|^npm start -- --(?!help)|^uniknode dev\b/,
    ready: /Ctrl-C stops/,
    isNode: true,
    isChain: true,
  },
  // A reorganisation of the page retracts a block that it has received.
  { command: /^npm start -- listen .*block\.\*/, ready: /block\.applied/ },
  { command: /^npm start -- listen\b/, ready: /Ctrl-C stops the receiver/ },
  { command: /^(npm start --|uniknode) run (?!--help)/, ready: /node started/, isNode: true },
  { command: /^uniknode rpc$|^uniknode serve /, ready: /^http:\S+$/m },
  { command: /^uniknode deliver /, ready: /waiting: the node delivers/ },
  { command: /^uniknode mirror (?!--check)/, ready: /following the node/ },
  { command: /^npm run example -- receiver\b/, ready: /listening on/ },
  { command: /^curl -N /, ready: /^data:/m },
];

/** Returns whether a command starts a node. */
export const startsNode = (command: string): boolean =>
  SERVICES.find((service) => service.command.test(command))?.isNode === true;

/** Pause before the next command, in which output arrives. */
const READ_MS = 1_500;
const MAX_PRINTED_BYTES = 67_108_864;
const run = promisify(execFile);

type State = {
  readonly work: string;
  readonly values: Record<string, string>;
  readonly env: NodeJS.ProcessEnv;
  readonly services: Service[];
  lastOutput: string;
};

export async function openTerminal(): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-guide-"));
  const values: Record<string, string> = {};
  for (const port of PORTS) values[port] = `${await freePort()}`;
  const receiver = createServer((_request, response) => response.writeHead(204).end());
  receiver.listen(Number(values[RECEIVER_PORT]), "127.0.0.1");
  const work = join(folder, "work");
  mkdirSync(work);
  const env = environmentOf(folder, present(values[NODE_PORT]));
  const state: State = { work, values, env, services: [], lastOutput: "" };
  return {
    folder: work,
    values,
    environment: env,
    type: (command) => type(state, command),
    ask: (command) => ask(state, command),
    screens: () => [state.lastOutput, ...state.services.map(({ printed }) => printed())],
    async close() {
      for (const service of state.services.splice(0).reverse()) {
        if (service.child.exitCode === null && service.child.signalCode === null) await stop(service);
      }
      receiver.closeAllConnections();
      receiver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const environmentOf = (folder: string, port: string): NodeJS.ProcessEnv => ({
  ...process.env,
  UNIKNODE_HTTP_PORT: port,
  UNIKNODE_BLOCK_TIME: "1",
  UNIKNODE_URL: `http://127.0.0.1:${port}`,
  UNIKNODE_NODE: `http://127.0.0.1:${port}`,
  PATH: `${programsIn(folder)}:${process.env.PATH}`,
});

async function type(state: State, command: string): Promise<boolean> {
  const { services } = state;
  const kind = SERVICES.find((one) => one.command.test(command));
  if (!kind) {
    state.lastOutput = await ask(state, command);
    return false;
  }
  const before = services.findIndex(({ isChain }) => isChain);
  if (kind.isChain && before !== -1) await stop(present(services.splice(before, 1)[0]));
  await serve(state, command, kind);
  return kind.isChain === true;
}

/** Replaces placeholders, and omits the progress bar that a terminal would overwrite. */
const typedAs = ({ values }: State, command: string): string =>
  Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(new RegExp(`(?<!\\w)${name}(?!\\w)`, "g"), () => value),
    command
      .replace(/^curl /, "curl -sS --fail-with-body ")
      .replace(/^uniknode rpc$/, `UNIKNODE_RPC_PORT=${COMPANION_PORT} $&`),
  );

async function stop({ child, ended }: Service): Promise<void> {
  process.kill(-present(child.pid), "SIGINT");
  await ended;
}

async function serve(state: State, command: string, { ready, isChain = false }: Kind): Promise<void> {
  const { work, env, services } = state;
  // A process group of its own, because the shell does not forward signals.
  const child = spawn("bash", ["-c", typedAs(state, command)], {
    cwd: work,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const isReady = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (ready.test(text)) isReady.resolve();
    });
  }
  const ended = new Promise<string>((resolve) => child.on("close", (...how) => resolve(endOf(...how))));
  services.push({ isChain, child, ended, printed: () => text });
  const tooLate = AbortSignal.timeout(WAIT_MS);
  tooLate.addEventListener("abort", () =>
    isReady.reject(new Error(`${command}\n--- not ready after ${WAIT_MS} ms\n${text}`)),
  );
  void ended.then((end) => isReady.reject(new Error(`${command}\n--- ${end} before it was ready\n${text}`)));
  await isReady.promise;
  isReady.promise.catch(() => {});
  await sleep(READ_MS);
  if (isChain) await untilHealthy(`${env.UNIKNODE_URL}/health/ready`);
}

/** Waits until a node that serves its health is ready: on a busy machine, its first blocks come later than the next command. */
const untilHealthy = (url: string) =>
  until(url, async () => {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    return status !== 503;
  });

type Failure = Error & {
  readonly code?: number | string | null;
  readonly signal?: NodeJS.Signals | null;
  readonly stdout?: string;
  readonly stderr?: string;
};

async function ask(state: State, command: string): Promise<string> {
  const { work, env } = state;
  const typed = typedAs(state, command);
  try {
    const options = { cwd: work, env, timeout: WAIT_MS, maxBuffer: MAX_PRINTED_BYTES };
    const { stdout, stderr } = await run("bash", ["-c", typed], options);
    return `${stdout}${stderr}`;
  } catch (error) {
    const { code = null, signal = null, stdout, stderr } = error as Failure;
    throw new Error(`${typed}\n--- ${endOf(code, signal)}\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Describes how a command ended. */
const endOf = (code: number | string | null, signal: NodeJS.Signals | null): string =>
  signal === null ? `ended with code ${code}` : `ended by ${signal}, as after ${WAIT_MS} ms`;

/** Installs `npm` as it is in the clone, and the program as its packages install it. Returns their folder. */
function programsIn(folder: string): string {
  const programs = join(folder, "bin");
  mkdirSync(programs);
  const clone = "npm_package_name=uniknode-workspace npm_lifecycle_event=start";
  const scripts = {
    npm: `case "$1" in start) shift; [ "$1" = -- ] && shift; ${clone} exec "${process.execPath}" "${ROOT}tools/run.mjs" start "$@";;
run) shift; name="$1"; shift; [ "$1" = -- ] && shift; exec "${process.execPath}" "${ROOT}tools/run.mjs" "$name" "$@";; esac; exit 2`,
    uniknode: `exec "${process.execPath}" "${ROOT}packages/node/bin/uniknode.js" "$@"`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return programs;
}
