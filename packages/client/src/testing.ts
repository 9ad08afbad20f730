/// <reference lib="esnext.disposable" preserve="true" />
/** A dev chain of its own for a test, in Node.js and with any test runner (docs/guides/testing.md). */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "./api/client.ts";
import type { DevChange, Reorganisation } from "./api/resources/dev.ts";
import type { StreamedEvent } from "./api/resources/events.ts";
import type { EventContents } from "./deliveries/contents.ts";

type StartOptions = {
  /** Program and its first arguments. Default: `uniknode`, which npm finds in `node_modules/.bin`. */
  readonly command?: readonly [program: string, ...args: string[]];
  /** Further options of `uniknode dev`, such as `["--accounts", "50"]`. */
  readonly options?: readonly string[];
  /** Time limit of the start in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
};

type ChainEvent<Name extends string = string> = StreamedEvent & {
  readonly event: Name;
  readonly data: Name extends keyof EventContents ? EventContents[Name] : unknown;
};

export type ChainErrorCode =
  /** The program could not be started, or ended before the chain was ready. */
  | "CHAIN_NOT_STARTED"
  /** The chain was not ready, or no event matched, within the time limit. */
  | "CHAIN_TIMEOUT"
  /** The chain has ended. */
  | "CHAIN_ENDED";

export class ChainError extends Error {
  readonly code: ChainErrorCode;
  /** True if the same call may succeed later. */
  readonly isRetryable: boolean;

  constructor(code: ChainErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ChainError";
    this.code = code;
    this.isRetryable = code === "CHAIN_TIMEOUT";
  }
}

/** A node stops within 15 s. */
const STOP_TIMEOUT_MS = 20_000;
/** Characters of the program's output that are kept for errors. The first ones contain the URL. */
const MAX_OUTPUT = 8_192;
/** Events that no call has returned yet; beyond it, the oldest are dropped. */
const MAX_EVENTS = 10_000;

/**
 * Starts a new dev chain in a temporary folder, on a free port. It forges a block only when `mine` is called.
 *
 * @throws {ChainError} CHAIN_NOT_STARTED, CHAIN_TIMEOUT
 */
export const startChain = (options: StartOptions = {}): Promise<TestChain> => TestChain.start(options);

export class TestChain {
  /** Base URL of the node. */
  readonly url: string;
  /** Token of the node, which `client` sends. */
  readonly webhookToken: string;
  readonly client: Client;
  readonly #program: Program;
  readonly #events: ChainEvent[] = [];
  readonly #isListening = Promise.withResolvers<void>();
  readonly #ending = new AbortController();
  #failure: ChainError | undefined;
  /** Settles with the next event, or when there are no more. */
  #news = Promise.withResolvers<void>();

  private constructor(url: string, program: Program) {
    this.url = url;
    this.webhookToken = program.webhookToken;
    this.client = createClient({ url, webhookToken: program.webhookToken, fetch: this.#fetch });
    this.#program = program;
    void program.ended.then((reason) => this.#fail(new ChainError("CHAIN_ENDED", `the chain ${reason}`)));
  }

  static async start({ command = ["uniknode"], options = [], timeoutMs = 60_000 }: StartOptions) {
    const program = new Program(command, options);
    const late = rejectAfter(timeoutMs, () => `the chain did not start in ${timeoutMs} ms${program.output}`);
    try {
      const chain = new TestChain(await Promise.race([program.url, late.promise]), program);
      await Promise.race([chain.client.dev.forge({ enabled: false }), late.promise]);
      await Promise.race([chain.#isListening.promise, chain.#follow(), late.promise]);
      if (chain.#failure) throw chain.#failure;
      return chain;
    } catch (error) {
      await program.stop();
      throw error;
    } finally {
      late.clear();
    }
  }

  /** Forges blocks; the first one contains the pending transactions. */
  async mine(blocks = 1): Promise<DevChange> {
    return (await this.client.dev.mine({ blocks })).data;
  }

  /** Replaces the top blocks with a longer branch of empty blocks. Their transactions are pending again. */
  async reorganise(depth: number, branch: Omit<Reorganisation, "depth"> = {}): Promise<DevChange> {
    return (await this.client.dev.reorg({ depth, ...branch })).data;
  }

  /** Moves the clock of the chain forward. */
  async travel(seconds: number): Promise<DevChange> {
    return (await this.client.dev.travel({ seconds })).data;
  }

  /**
   * Resolves with the first event since the start that matches. Each event is returned once: the same call again
   * waits for another one.
   *
   * @throws {ChainError} CHAIN_TIMEOUT, CHAIN_ENDED
   */
  async waitFor<const Name extends string>(
    name: Name,
    matches: (event: ChainEvent<Name>) => boolean = () => true,
    timeoutMs = 30_000,
  ): Promise<ChainEvent<Name>> {
    const late = rejectAfter(timeoutMs, () => `no event ${name} matched within ${timeoutMs} ms`);
    try {
      for (;;) {
        const found = this.#events.find(
          (event) => event.event === name && matches(event as ChainEvent<Name>),
        );
        if (found) this.#events.splice(this.#events.indexOf(found), 1);
        if (found) return found as ChainEvent<Name>;
        if (this.#failure) throw this.#failure;
        await Promise.race([this.#news.promise, late.promise]);
      }
    } finally {
      late.clear();
    }
  }

  /** Ends the chain, and removes its folder. */
  stop(): Promise<void> {
    this.#fail(new ChainError("CHAIN_ENDED", "the chain was stopped"));
    return this.#program.stop();
  }

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.stop();

  /** The node sends every event after it has accepted the stream. */
  readonly #fetch: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    if (response.headers.get("content-type") === "text/event-stream") this.#isListening.resolve();
    return response;
  };

  /** Resolves when the events have ended. */
  async #follow(): Promise<void> {
    try {
      for await (const event of this.client.events.stream({ signal: this.#ending.signal })) {
        if (this.#events.push(event as ChainEvent) > MAX_EVENTS) this.#events.shift();
        this.#notify();
      }
    } catch (cause) {
      this.#fail(new ChainError("CHAIN_ENDED", "the stream of events has ended", cause));
    }
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  #fail(error: ChainError): void {
    this.#failure ??= error;
    this.#ending.abort();
    this.#notify();
  }
}

/** The process of the chain, and its folder. */
class Program {
  readonly webhookToken = crypto.randomUUID();
  readonly url: Promise<string>;
  /** Settles with the reason when the process has ended. */
  readonly ended: Promise<string>;
  output = "";
  readonly #folder = mkdtempSync(join(tmpdir(), "uniknode-chain-"));
  readonly #child: ChildProcess;
  readonly #kill = () => void this.#child.kill("SIGKILL");

  constructor([program, ...args]: readonly [string, ...string[]], options: readonly string[]) {
    const address = ["--http-host", "127.0.0.1", "--http-port", "0", "--webhook-token", this.webhookToken];
    const flags = ["--data", this.#folder, ...address, "--instant", "--log-level", "error"];
    const words = [...args, "dev", ...flags, ...options];
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    // The chain must not outlive a test that does not stop it.
    process.once("exit", this.#kill);
    const url = Promise.withResolvers<string>();
    const read = (text: string) => {
      this.output = `${this.output || "\n"}${text}`.slice(-MAX_OUTPUT);
      const [, found] = /^API +(http:\S+?)\/api\//m.exec(this.output) ?? [];
      if (found !== undefined) url.resolve(found);
    };
    for (const output of [child.stdout, child.stderr]) output.setEncoding("utf8").on("data", read);
    this.ended = new Promise((resolve) => {
      child.once("error", ({ message }) => resolve(`could not be started: ${message}`));
      child.once("close", (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
    });
    const failed = this.ended.then((reason) => {
      const next = 'install "uniknode", or name the program in "command"';
      throw new ChainError("CHAIN_NOT_STARTED", `${program} ${reason}: ${next}${this.output}`);
    });
    this.url = Promise.race([url.promise, failed]);
  }

  async stop(): Promise<void> {
    const timer = setTimeout(this.#kill, STOP_TIMEOUT_MS);
    this.#child.kill();
    await this.ended;
    clearTimeout(timer);
    process.off("exit", this.#kill);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Creates a promise that rejects with CHAIN_TIMEOUT, unless it is cleared before. */
function rejectAfter(timeoutMs: number, message: () => string) {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new ChainError("CHAIN_TIMEOUT", message())), timeoutMs);
  return { promise, clear: () => clearTimeout(timer) };
}
