/** Dev chain of the real program, which serves the console. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@uniknode/client";
import { present } from "@uniknode/protocol";
import { freePort } from "../../node/test-support/peers/world.ts";
import { type Running, runUniknode, spawnUniknode } from "../../node/test-support/process/uniknode.ts";
import { WAIT_MS } from "../../node/test-support/process/until.ts";

const PAGE = join(import.meta.dirname, "../dist/index.html");

type Started = {
  readonly program: Running;
  readonly url: string;
  readonly token: string;
  readonly consoleUrl: string;
  readonly client: Client;
};

export class DevNode {
  readonly #options: readonly string[];
  #folder: string | undefined;
  #started: Started | undefined;

  /** @param options further arguments of `uniknode dev` */
  constructor(options: readonly string[] = []) {
    this.#options = options;
  }

  /** Runs a command of the program against this chain, such as `tx transfer`. */
  readonly command = async (
    args: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<string> => {
    const chain = { UNIKNODE_URL: this.url, UNIKNODE_DATA: this.#folder };
    const { code, stdout, stderr } = await runUniknode(args, { environment: { ...chain, ...environment } });
    if (code !== 0) throw new Error(`uniknode ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  };

  get url(): string {
    return present(this.#started).url;
  }

  get token(): string {
    return present(this.#started).token;
  }

  /** Address that signs in, once. */
  get consoleUrl(): string {
    return present(this.#started).consoleUrl;
  }

  get client(): Client {
    return present(this.#started).client;
  }

  /**
   * Starts the process, or starts it again after `kill`, at the same address.
   * @throws {Error} if the console was not built
   */
  async start(): Promise<void> {
    if (!existsSync(PAGE)) throw new Error("the console was not built: npm run console");
    this.#folder ??= mkdtempSync(join(tmpdir(), "uniknode-console-"));
    // No other program gets it between kill and start.
    const port = this.#started ? new URL(this.#started.url).port : `${await freePort()}`;
    const program = spawnUniknode(["dev", "--data", this.#folder, "--http-port", port, ...this.#options]);
    const url = await printed(program, /API +(http:\/\/[^/]+)/);
    const token = await printed(program, /Webhook token +(\w+)/);
    const consoleUrl = await printed(program, /Console +(\S+)/);
    const client = createClient({ url, webhookToken: token, timeoutMs: WAIT_MS });
    this.#started = { program, url, token, consoleUrl, client };
  }

  /** Kills the process; the chain and the address remain. */
  async kill(): Promise<void> {
    const { program } = present(this.#started);
    program.child.kill("SIGKILL");
    await program.ended;
  }

  /** Suspends the process, or resumes it: its port still accepts connections. */
  pause(isPaused: boolean): void {
    present(this.#started).program.child.kill(isPaused ? "SIGSTOP" : "SIGCONT");
  }

  async stop(): Promise<void> {
    if (this.#started) {
      const { child, ended } = this.#started.program;
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      await ended;
    }
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function printed(program: Running, pattern: RegExp): Promise<string> {
  const [, text] = await program.printed(pattern);
  return present(text);
}
