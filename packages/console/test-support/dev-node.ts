/** A dev chain of the real program, which serves the console. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@uniknode/client";
import { runUniknode, spawnUniknode } from "../../node/test-support/process/uniknode.ts";

const PAGE = join(import.meta.dirname, "../dist/index.html");
const STOP_TIMEOUT_MS = 15_000;

export type DevNode = {
  readonly url: string;
  readonly token: string;
  /** Address that signs in, once. */
  readonly consoleUrl: string;
  readonly client: Client;
  /** Runs a command of the program against this chain, such as `tx transfer`. */
  command(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<string>;
  /** Ends the process without warning; the chain and the address remain. */
  kill(): Promise<void>;
  /** Starts the process again after `kill`, at the same address. */
  start(): Promise<void>;
  /** Suspends the process, or resumes it: its port still accepts connections. */
  pause(isPaused: boolean): void;
  stop(): Promise<void>;
};

/** @throws {Error} when the console was not built */
export async function startDevNode(): Promise<DevNode> {
  if (!existsSync(PAGE)) throw new Error("the console was not built: npm run console");
  const folder = mkdtempSync(join(tmpdir(), "uniknode-console-"));
  let program = spawnUniknode(["dev", "--data", folder, "--http-port", "0"]);
  const [, url] = await program.printed(/API +(http:\/\/[^/]+)/);
  const [, token] = await program.printed(/Webhook token +(\w+)/);
  const [, consoleUrl] = await program.printed(/Console +(\S+)/);
  const chain = { UNIKNODE_URL: url, UNIKNODE_DATA: folder };

  return {
    url: url!,
    token: token!,
    consoleUrl: consoleUrl!,
    client: createClient({ url: url!, webhookToken: token! }),
    async command(args, environment = {}) {
      const { code, stdout, stderr } = await runUniknode(args, { environment: { ...chain, ...environment } });
      if (code !== 0) throw new Error(`uniknode ${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    async kill() {
      program.child.kill("SIGKILL");
      await program.ended;
    },
    async start() {
      program = spawnUniknode(["dev", "--data", folder, "--http-port", new URL(url!).port]);
      await program.printed(/Console +(\S+)/);
    },
    pause(isPaused) {
      program.child.kill(isPaused ? "SIGSTOP" : "SIGCONT");
    },
    async stop() {
      program.child.kill("SIGTERM");
      await Promise.race([program.ended, new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS))]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
