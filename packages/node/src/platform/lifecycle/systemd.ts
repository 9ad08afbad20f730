/**
 * Notifies systemd, for services of `Type=notify`: ready, stopping, and the watchdog. Node.js has no datagram Unix
 * sockets, on which systemd listens; the program `systemd-notify` sends the messages.
 */
import { execFile } from "node:child_process";
import type { Logger } from "pino";

type SystemdDeps = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns true if the event loops of the other threads run. */
  readonly isAlive: () => boolean;
  readonly logger: Pick<Logger, "warn">;
};

const PROGRAM = "systemd-notify";
const SEND_TIMEOUT_MS = 10_000;

/** Does nothing in a process that systemd did not start as such a service. */
export class Systemd {
  readonly #deps: SystemdDeps;
  #timer: NodeJS.Timeout | undefined;
  #isSending = false;
  /** True if the last message could not be sent, which was logged. */
  #hasFailed = false;

  constructor(deps: SystemdDeps) {
    this.#deps = deps;
  }

  /** Reports that the node serves, and starts the watchdog messages. */
  ready(): void {
    const { environment, isAlive } = this.#deps;
    const watchdogMs = Number(environment.WATCHDOG_USEC ?? 0) / 1_000;
    const { WATCHDOG_PID: watched = String(process.pid) } = environment;
    this.#send("READY=1");
    if (!(watchdogMs > 0) || watched !== String(process.pid)) return;
    // A quarter: a message whose program takes the whole timeout must not make the next one too late.
    this.#timer = setInterval(() => {
      if (isAlive() && !this.#isSending) this.#send("WATCHDOG=1");
    }, watchdogMs / 4).unref();
  }

  /** Reports that the node is stopping. */
  stopping(): void {
    clearInterval(this.#timer);
    this.#send("STOPPING=1");
  }

  #send(state: string): void {
    const { environment, logger } = this.#deps;
    const { PATH, NOTIFY_SOCKET } = environment;
    if (!NOTIFY_SOCKET) return;
    this.#isSending = true;
    const options = { env: { PATH, NOTIFY_SOCKET }, timeout: SEND_TIMEOUT_MS };
    execFile(PROGRAM, [state], options, (error) => {
      this.#isSending = false;
      if (error && !this.#hasFailed)
        logger.warn({ program: PROGRAM, state, reason: error.message }, "failed to notify systemd");
      this.#hasFailed = error !== null;
    });
  }
}
