/**
 * Messages of a service of `Type=notify` to systemd: that it serves, that it ends, and that it is alive. Node.js has no
 * sockets of the kind that systemd listens on; the program that comes with systemd sends the messages.
 */
import { execFile } from "node:child_process";
import type { Logger } from "pino";

export type Systemd = {
  /** The node serves. From now on it says that it is alive, for as long as it is. */
  ready(): void;
  /** The node is about to end. */
  stopping(): void;
};

export type SystemdDeps = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether every thread turns. The one that calls does. */
  readonly isAlive: () => boolean;
  readonly logger: Pick<Logger, "warn">;
};

const PROGRAM = "systemd-notify";
const SEND_TIMEOUT_MS = 10_000;

/** Does nothing in a process that was not started by systemd as such a service. */
export function createSystemd({ environment, isAlive, logger }: SystemdDeps): Systemd {
  const socket = environment.NOTIFY_SOCKET;
  const watchdogMs = Number(environment.WATCHDOG_USEC ?? 0) / 1_000;
  const { WATCHDOG_PID: watched = String(process.pid) } = environment;
  let timer: NodeJS.Timeout | undefined;
  let isSending = false;
  /** The last message could not be sent, which was logged. */
  let hasFailed = false;

  function send(state: string): void {
    if (!socket) return;
    const env = { PATH: environment.PATH, NOTIFY_SOCKET: socket };
    isSending = true;
    execFile(PROGRAM, [state], { env, timeout: SEND_TIMEOUT_MS }, (error) => {
      isSending = false;
      if (error && !hasFailed)
        logger.warn({ program: PROGRAM, state, reason: error.message }, "systemd cannot be notified");
      hasFailed = error !== null;
    });
  }

  return {
    ready() {
      send("READY=1");
      if (!(watchdogMs > 0) || watched !== String(process.pid)) return;
      timer = setInterval(() => {
        if (isAlive() && !isSending) send("WATCHDOG=1");
      }, watchdogMs / 2).unref();
    },
    stopping() {
      clearInterval(timer);
      send("STOPPING=1");
    },
  };
}
