/**
 * Notifies systemd, for services of `Type=notify`: ready, stopping, and the watchdog. Node.js has no datagram Unix
 * sockets, on which systemd listens; the program `systemd-notify` sends the messages.
 */
import { execFile } from "node:child_process";
import type { Logger } from "pino";

type Systemd = {
  /** Reports that the node serves, and starts the watchdog messages. */
  ready(): void;
  /** Reports that the node is stopping. */
  stopping(): void;
};

type SystemdDeps = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns true if the event loops of the other threads run. */
  readonly isAlive: () => boolean;
  readonly logger: Pick<Logger, "warn">;
};

const PROGRAM = "systemd-notify";
const SEND_TIMEOUT_MS = 10_000;

/** Does nothing in a process that systemd did not start as such a service. */
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
        logger.warn({ program: PROGRAM, state, reason: error.message }, "failed to notify systemd");
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
