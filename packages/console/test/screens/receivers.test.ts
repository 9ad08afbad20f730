/**
 * Receivers that the console offers, each run with its own interpreter, against deliveries as the node signs
 * them.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHeaders, signingSecretOf } from "../../../node/src/webhooks/model/message.ts";

const FOLDER = join(import.meta.dirname, "../../receivers");
const SECRETS = { token: "ab".repeat(32) };
const BODY = JSON.stringify({ id: "msg_1", event: "block.applied", data: { height: 7 } });
const START_TIMEOUT_MS = 60_000;

type Language = {
  readonly name: string;
  /** Required program, and the arguments that print its version. */
  readonly probe: readonly [string, ...string[]];
  /** Files that are created before it runs. */
  readonly build?: (folder: string) => readonly [string, ...string[]];
  readonly command: (port: number, folder: string) => readonly [string, ...string[]];
};

const file = (name: string): string => join(FOLDER, name);
const LANGUAGES: readonly Language[] = [
  {
    name: "JavaScript",
    probe: [process.execPath, "--version"],
    command: () => [process.execPath, file("receiver.mjs")],
  },
  { name: "Python", probe: ["python3", "--version"], command: () => ["python3", file("receiver.py")] },
  {
    name: "Go",
    probe: ["go", "version"],
    build: (folder) => ["go", "build", "-o", join(folder, "receiver"), file("receiver.go")],
    command: (_port, folder) => [join(folder, "receiver")],
  },
  {
    name: "PHP",
    probe: ["php", "--version"],
    command: (port) => ["php", "-S", `127.0.0.1:${port}`, file("receiver.php")],
  },
];

const run = ([program, ...args]: readonly [string, ...string[]]) =>
  spawnSync(program, args, { timeout: START_TIMEOUT_MS, encoding: "utf8" });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

describe.each(LANGUAGES)("The receiver in $name (skipped without its interpreter)", (language) => {
  const isThere = run(language.probe).status === 0;
  const folder = mkdtempSync(join(tmpdir(), "uniknode-receiver-"));
  let child: ChildProcess | undefined;
  let url: string;

  beforeAll(async () => {
    if (!isThere) return;
    if (language.build) expect(run(language.build(folder)).stderr).toBe("");
    const port = await freePort();
    url = `http://127.0.0.1:${port}/`;
    const [program, ...args] = language.command(port, folder);
    const env = { ...process.env, PORT: `${port}`, WEBHOOK_SECRET: signingSecretOf(SECRETS.token) };
    child = spawn(program, args, { env, stdio: "ignore" });
    const endsMs = Date.now() + START_TIMEOUT_MS;
    while (Date.now() < endsMs && !(await fetch(url, { method: "POST" }).catch(() => undefined)))
      await sleep(50);
  }, 2 * START_TIMEOUT_MS);
  afterAll(async () => {
    if (child && child.exitCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true });
  });

  const headersOf = createHeaders();
  async function statusOf({ body = BODY, atMs = Date.now(), headers = {}, secrets = SECRETS }: Sent) {
    const signed = headersOf({ id: "msg_1", body: BODY, secrets }, atMs);
    const response = await fetch(url, { method: "POST", body, headers: { ...signed, ...headers } });
    await response.arrayBuffer();
    return response.status;
  }

  test.skipIf(!isThere)("accepts deliveries of the node, also during a rotation of the secret", async () => {
    expect(await statusOf({})).toBe(204);
    const untilMs = Date.now() + 60_000;
    const rotated = { token: "cd".repeat(32), previous: { token: SECRETS.token, untilMs } };
    expect(await statusOf({ secrets: rotated })).toBe(204);
  });

  test.skipIf(!isThere)("refuses everything else", async () => {
    expect(await statusOf({ body: BODY.replace("7", "8") })).toBe(401);
    expect(await statusOf({ secrets: { token: "cd".repeat(32) } })).toBe(401);
    for (const minutes of [-6, 6]) expect(await statusOf({ atMs: Date.now() + minutes * 60_000 })).toBe(401);
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
      for (const value of ["", "x", "v1,"]) expect(await statusOf({ headers: { [name]: value } })).toBe(401);
    }
    expect((await fetch(url, { method: "POST", body: BODY })).status).toBe(401);
  });
});

type Sent = {
  readonly body?: string;
  readonly atMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secrets?: Parameters<ReturnType<typeof createHeaders>>[0]["secrets"];
};
