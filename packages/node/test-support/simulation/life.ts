/**
 * One run of the process under test: started, disturbed at random, and killed at some moment or stopped
 * cleanly.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "../process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../process/uniknode.ts";
import { type Control, createControl, TOKEN } from "./register.ts";

export type Life = {
  readonly node: Running;
  readonly client: Client;
  readonly control: Control;
  /** @throws {Error} if it has ended already */
  kill(): Promise<void>;
  /** @throws {Error} if the process does not end cleanly */
  stop(): Promise<void>;
};

const CLOCK_JUMPS = fileURLToPath(new URL("./clock-jumps.ts", import.meta.url));

const MAX_ATTEMPTS = 20;
const ATTEMPT_PAUSE_MS = 250;

export const clockFile = (folder: string): string => join(folder, "clock");

/** Moves the machine's clock, as the processes of the folder see it. */
export const setClock = (folder: string, aheadMs: number): void =>
  writeFileSync(clockFile(folder), String(aheadMs));

/** Connects to a node: on a busy machine the first response may take longer than its own timeout. */
export async function connectTo(url: string): Promise<Client> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(url);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      await sleep(ATTEMPT_PAUSE_MS);
    }
  }
}

/** Starts a process that uses the machine's clock of the folder. */
export const spawnWithClock = (folder: string, args: readonly string[]): Running =>
  spawnUniknode(args, {
    nodeArguments: ["--import", CLOCK_JUMPS],
    environment: { UNIKNODE_TEST_CLOCK: clockFile(folder) },
  });

export type LifeOptions = {
  /** Port of the API. Default: a free one. */
  readonly port?: number;
  /** Further arguments of the node. */
  readonly args?: readonly string[];
};

export async function beginLife(folder: string, { port = 0, args = [] }: LifeOptions = {}): Promise<Life> {
  const node = spawnWithClock(folder, [
    ...["dev", "--data", join(folder, "data"), "--http-port", `${port}`, "--block-time", "1"],
    ...["--webhook-token", TOKEN, "--log-level", "error", ...args],
  ]);
  const url = await apiUrlOf(node);
  return {
    node,
    client: await connectTo(url),
    control: createControl(url),
    async kill() {
      const { exitCode } = node.child;
      node.child.kill("SIGKILL");
      const { stderr } = await node.ended;
      if (exitCode !== null) throw new Error(`the node ended by itself with code ${exitCode}:\n${stderr}`);
    },
    async stop() {
      node.child.kill("SIGINT");
      const { code, stderr } = await node.ended;
      if (code !== 0) throw new Error(`the node ended with code ${code}:\n${stderr}`);
    },
  };
}
