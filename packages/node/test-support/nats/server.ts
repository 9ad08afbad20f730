/** Debian's nats-server with JetStream and two users, for tests. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../peers/world.ts";
import { missingProgram } from "../process/available.ts";
import { until, WAIT_MS } from "../process/until.ts";
import { openAdmin, type StreamAdmin } from "./admin.ts";

const PROGRAM = "/usr/sbin/nats-server";

/** Returns why no NATS server can run here, or undefined. */
export const missingForNats = (): string | undefined => missingProgram(PROGRAM);

export type NatsServer = {
  readonly port: number;
  /** Returns the URL of a subject, with the user that publishes. */
  urlOf(
    subject: string,
    changes?: { readonly port?: number; readonly user?: string; readonly scheme?: string },
  ): string;
  admin(): Promise<StreamAdmin>;
  start(): Promise<void>;
  /** Ends the server: SIGKILL is a crash. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Ends the server, and removes its folder. */
  remove(): Promise<void>;
};

/** The user of deliveries can publish to `chain.>` and `window.>`, and use what strict order requires. */
const USERS = `authorization { timeout: ${WAIT_MS / 1_000}, users: [
  { user: admin, password: admin }
  { user: node, password: "p@ss", permissions: {
      publish: ["chain.>", "window.>", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.MSG.GET.*"], subscribe: ["_INBOX.>"] } }
] }`;
export const MAX_PAYLOAD = 65_536;

export type NatsServerOptions = {
  /** Further lines of the configuration. */
  readonly more?: string;
  /** Replaces the configuration. */
  readonly configOf?: (port: number, folder: string) => string;
  /** Password of the user `admin`. */
  readonly password?: string;
};

const configWith = (more: string) => (port: number, folder: string) =>
  [
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: "${folder}" }`,
    `max_payload: ${MAX_PAYLOAD}`,
    USERS,
    more,
  ].join("\n");

export async function startNatsServer({
  more = "",
  configOf = configWith(more),
  password = "admin",
}: NatsServerOptions = {}): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-nats-"));
  const port = await freePort();
  const file = join(folder, "nats.conf");
  writeFileSync(file, configOf(port, folder));
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    child = spawn(PROGRAM, ["-c", file], { stdio: "ignore" });
    await accepts(port);
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  await start();
  return {
    port,
    urlOf: (subject, changes = {}) =>
      `${changes.scheme ?? "nats"}://${changes.user ?? "node:p%40ss"}@127.0.0.1:${changes.port ?? port}/${subject}`,
    admin: () => openAdmin(port, password),
    start,
    end,
    async remove() {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Settles when a server accepts connections at a port. */
const accepts = (port: number) =>
  until(`no connection to port ${port}`, async () => {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return true;
    } finally {
      socket.destroy();
    }
  });
