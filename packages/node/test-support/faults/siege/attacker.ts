/** Definition of an attack, and the means of attackers: addresses, requests, connections and repetition. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import type { SiegedNode, Target } from "./node.ts";
import { ask, inTurn, type Request, type Response } from "./requests.ts";

export type Attack = {
  /** Starts the node for this attack. Absent: the attack uses the shared node. */
  readonly start?: () => Promise<SiegedNode>;
  /** Prepares the chain before the attack is observed. */
  readonly prepare?: (attacker: Attacker) => Promise<void>;
  /** Minimum duration, regardless of the options. */
  readonly minMs?: number;
  /** Maximum duration of a tick of the consensus thread, if lower than that of all attacks. */
  readonly maxTickMs?: number;
  /** Text in the reasons of slots that the node may miss. */
  readonly expectedMiss?: string;
  /** The load is constant: the memory of the node must not grow during a long attack. */
  readonly isSteady?: boolean;
  /** Attacks until the signal is aborted. */
  run(attacker: Attacker): Promise<void>;
};

export type NamedAttack = Attack & { readonly name: string };

type AttackerOptions = {
  readonly target: Target;
  /** Addresses are from 127.N.0.0/16: attacks do not use up each other's limits. */
  readonly network: number;
  readonly signal: AbortSignal;
  readonly onFirstOffer?: () => void;
};

export class Attacker {
  readonly target: Target;
  readonly signal: AbortSignal;
  /** An offer is a request, a connection or a message; refused are those with an error, or closed by the node. */
  readonly counts = { offered: 0, refused: 0 };
  readonly sockets = new Set<Socket>();
  readonly #options: AttackerOptions;
  #addresses = 0;

  constructor(options: AttackerOptions) {
    this.target = options.target;
    this.signal = options.signal;
    this.#options = options;
  }

  offered(count = 1): void {
    if (this.counts.offered === 0) this.#options.onFirstOffer?.();
    this.counts.offered += count;
  }

  /** Every 127.x.y.z is an address of this machine, and a separate client for the node. */
  address(subnet: number, host: number): string {
    return `127.${this.#options.network}.${subnet & 0xff}.${host & 0xff}`;
  }

  nextAddress(): string {
    this.#addresses += 1;
    return this.address(this.#addresses >> 8, this.#addresses);
  }

  nextAddresses(count: number): string[] {
    return Array.from({ length: count }, () => this.nextAddress());
  }

  /** Sends a request without counting it, from another address each time. */
  ask(request: Request): Promise<Response> {
    return ask(this.target, { from: this.nextAddress(), ...request });
  }

  async send(request: Request): Promise<number> {
    this.offered();
    const { status } = await this.ask(request);
    if (status === 0 || status >= 400) this.counts.refused++;
    return status;
  }

  /** Opens a connection to the HTTP server unless a port is given, from another address each time. */
  open(first: string | Uint8Array, { port = this.target.httpPort, from = this.nextAddress() } = {}): Socket {
    this.offered();
    const socket = connect({ host: this.target.host, port, localAddress: from });
    this.sockets.add(socket);
    socket.on("error", () => {});
    socket.once("connect", () => {
      if (first.length > 0) socket.write(first);
    });
    socket.once("close", () => {
      if (this.sockets.delete(socket)) this.counts.refused++;
    });
    return socket;
  }

  /** Keeps this number of connections open: opens another one for each that the node closes. */
  async keepOpen(
    count: number,
    open: (number: number) => unknown,
    // At most a few hundred at a time: the system's queue of new connections is not the target.
    { pauseMs = 50, atMost = 250 } = {},
  ): Promise<void> {
    let opened = 0;
    await this.repeat({ pauseMs }, async () => {
      const missing = Math.min(count - this.sockets.size, atMost);
      for (let index = 0; index < missing; index++) open(opened++);
    });
  }

  closeAll(): void {
    const sockets = [...this.sockets];
    this.sockets.clear();
    for (const socket of sockets) socket.destroy();
  }

  /** Repeats a task in `atOnce` concurrent loops until the signal is aborted, `times` at most. */
  async repeat(
    { atOnce = 1, pauseMs = 0, times = Number.POSITIVE_INFINITY },
    work: () => Promise<unknown>,
  ): Promise<void> {
    const { signal } = this;
    let count = 0;
    const loop = async () => {
      while (!signal.aborted && count++ < times) {
        await work();
        if (pauseMs > 0) await sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, loop));
    if (!signal.aborted) await once(signal, "abort");
  }

  /** Runs a task for each source at a constant rate, at least once, until the signal is aborted, and waits for all runs. */
  async repeatPaced(
    sources: readonly string[],
    perMinute: number,
    work: (source: string) => Promise<unknown>,
  ): Promise<void> {
    const intervalMs = 60_000 / perMinute / sources.length;
    const running = new Set<Promise<unknown>>();
    const startedMs = performance.now();
    for (let count = 0; !this.signal.aborted || count < sources.length; count++) {
      const one = work(present(sources[count % sources.length])).finally(() => running.delete(one));
      running.add(one);
      await sleep(Math.max(0, startedMs + (count + 1) * intervalMs - performance.now()));
    }
    await Promise.all(running);
  }

  /** Requests the paths in turn from a number of addresses, at a constant rate of each. */
  async read(paths: readonly string[], readers: number, perMinute: number): Promise<void> {
    const next = inTurn(paths);
    await this.repeatPaced(this.nextAddresses(readers), perMinute, (from) =>
      this.send({ path: next(), from }),
    );
  }
}
