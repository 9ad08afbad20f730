/** A dev chain of the real program with the built console before it. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@uniknode/client";
import { runUniknode, spawnUniknode } from "../../node/test-support/process/uniknode.ts";
import { buildConsole } from "./build.ts";
import { serveConsole } from "./server.ts";

const STOP_TIMEOUT_MS = 15_000;

export type DevNode = {
  /** Of the console and the API. */
  readonly url: string;
  readonly token: string;
  readonly client: Client;
  /** Runs a command of the program against this chain, such as `tx transfer`. */
  command(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<string>;
  /** Nothing answers any more until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
};

export async function startDevNode(): Promise<DevNode> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-console-"));
  const files = join(folder, "files");
  buildConsole(files);
  const data = join(folder, "data");
  const program = spawnUniknode(["dev", "--data", data, "--http-port", "0"]);
  const [, nodeUrl] = await program.printed(/API +(http:\/\/[^/]+)/);
  const [, token] = await program.printed(/Webhook token +(\w+)/);
  const { url, server, pause, resume } = await serveConsole({ nodeUrl: nodeUrl!, token: token!, files });
  const chain = { UNIKNODE_URL: nodeUrl, UNIKNODE_DATA: data };
  const client = createClient({ url: nodeUrl!, webhookToken: token! });

  return {
    url,
    token: token!,
    client,
    pause,
    resume,
    async command(args, environment = {}) {
      const { code, stdout, stderr } = await runUniknode(args, { environment: { ...chain, ...environment } });
      if (code !== 0) throw new Error(`uniknode ${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      const ended = once(program.child, "exit");
      program.child.kill("SIGTERM");
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS))]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
