/** Incoming connections from their admission to their end: which are admitted, refused or cut (p2p.md 6.1). */
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clientGroup } from "../../platform/addresses.ts";
import { normalizeAddress } from "../addresses.ts";
import { Admission, type AdmittedSession, type CapacityLimit } from "../guards/admission.ts";
import { type RateLimits, WindowCounter } from "../guards/rate-limits.ts";
import { Refusals } from "../guards/refusals.ts";
import { TIMES_MS } from "../wire/limits.ts";

export type IncomingDeps = {
  readonly rateLimits: Pick<RateLimits, "isBlocked">;
  /** Returns true if an address may use internal events. */
  readonly isTrusted: (address: string) => boolean;
  /** Returns true if connections of an address are refused. */
  readonly isBanned: (address: string) => boolean;
  /** Returns true if a normalized address belongs to a peer: other sessions are evicted for it. */
  readonly isPeer: (address: string) => boolean;
  /** Called with the socket of every admitted connection. */
  readonly onSocket?: (socket: Socket) => void;
};

/** The reason why a connection is refused before its first message. */
type RefusalReason = "banned" | "rate" | "offence" | CapacityLimit;

/** The reason why an admitted connection is cut and its address refused: no handshake in time, or a broken rule. */
type Offence = "handshake" | "offence";

/** The reason why an admitted connection is cut: an offence, or too many bytes in memory for it. */
type CutReason = Offence | "unfinished" | "unsent";

export type SessionFigures = {
  /** Current incoming connections, and the number without a handshake. */
  readonly sessions: number;
  readonly handshakes: number;
  /** Connections that were evicted for others, refused, and cut, since the process started. */
  readonly evicted: number;
  readonly refused: Readonly<Record<RefusalReason, number>>;
  readonly cut: Readonly<Record<CutReason, number>>;
};

/** The delegates, relays and crawlers of a network need fewer. */
const MAX_CONNECTIONS = 1_000;
/** Open connections of one address: one, and some whose end is not detected yet. */
const MAX_CONNECTIONS_PER_ADDRESS = 4;
/** Number of attempts that a client may abort before the handshake, as nodes do when they wake from sleep. */
const ABANDONED = { events: 5, windowMs: TIMES_MS.refusal };

type Admitted = {
  /** A destroyed socket no longer has it. */
  readonly address: string;
  readonly session: AdmittedSession;
};

export class IncomingConnections {
  readonly #deps: IncomingDeps;
  readonly #refusals = new Refusals({ durationMs: TIMES_MS.refusal });
  /** Counts the attempts that each client has given up. */
  readonly #abandoned = new WindowCounter(ABANDONED);
  readonly #admission: Admission;
  readonly #admitted = new WeakMap<Duplex, Admitted>();
  /** Sockets without a handshake, each with its timer. */
  readonly #handshakes = new Map<Duplex, NodeJS.Timeout>();
  /** Every admitted connection. */
  readonly #sockets = new Set<Socket>();
  /** Open sockets by address, the oldest first. */
  readonly #open = new Map<string, Set<Socket>>();
  readonly #refused: Record<RefusalReason, number> = { banned: 0, rate: 0, offence: 0, total: 0, subnet: 0 };
  readonly #cut: Record<CutReason, number> = { handshake: 0, offence: 0, unfinished: 0, unsent: 0 };

  /** @param perSubnet maximum number of connections of one /24 or /64 */
  constructor(perSubnet: number, deps: IncomingDeps) {
    this.#deps = deps;
    this.#admission = new Admission({ perSubnet, total: MAX_CONNECTIONS });
  }

  /** Admits a connection, or destroys it. */
  accept(socket: Socket): void {
    const { remoteAddress } = socket;
    const address = remoteAddress && normalizeAddress(remoteAddress);
    if (address === undefined || isIP(address) === 0) return void socket.destroy();
    const session = this.#refusalReason(address) ?? this.#admit(socket, address);
    if (typeof session === "string") {
      this.#refused[session]++;
      return void socket.destroy();
    }
    const timer = setTimeout(() => this.refuse(socket, "handshake"), TIMES_MS.handshake);
    this.#handshakes.set(socket, timer.unref());
    this.#admitted.set(socket, { address, session });
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      session.release();
      if (this.#handshakes.has(socket)) this.#abandon(socket, address);
    });
    socket.on("error", () => {});
    this.#deps.onSocket?.(socket);
  }

  /** Returns the normalized address of an admitted connection, also after its end. */
  addressOf(socket: Duplex): string | undefined {
    return this.#admitted.get(socket)?.address;
  }

  /** Called when the handshake of an admitted connection is done. */
  markOpen(socket: Socket): void {
    this.#forgetHandshake(socket);
    const admitted = this.#admitted.get(socket);
    if (!admitted) return;
    const { address, session } = admitted;
    session.markOpen();
    const sockets = this.#open.get(address) ?? new Set();
    this.#open.set(address, sockets.add(socket));
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) this.#open.delete(address);
    });
    const [oldest] = sockets;
    if (sockets.size > MAX_CONNECTIONS_PER_ADDRESS) oldest?.destroy();
  }

  /** Cuts a connection, and refuses further ones of its address for a while. */
  refuse(socket: Socket, reason: Offence): void {
    this.#cut[reason]++;
    this.#forgetHandshake(socket);
    const address = this.#admitted.get(socket)?.address;
    if (address !== undefined) this.#refusals.add(clientGroup(address), performance.now());
    socket.destroy();
  }

  /** Counts a connection that is cut because too many bytes are in memory for it. */
  countCut(reason: Exclude<CutReason, Offence>): void {
    this.#cut[reason]++;
  }

  figures(): SessionFigures {
    return { ...this.#admission.figures(), refused: this.#refused, cut: this.#cut };
  }

  /** Ends the connections of a client. */
  destroyClient(address: string): void {
    const client = clientGroup(address);
    for (const socket of this.#sockets) {
      const admitted = this.#admitted.get(socket);
      if (!admitted || clientGroup(admitted.address) !== client) continue;
      this.#forgetHandshake(socket);
      socket.destroy();
    }
  }

  destroyAll(): void {
    for (const timer of this.#handshakes.values()) clearTimeout(timer);
    for (const socket of this.#sockets) socket.destroy();
  }

  #refusalReason(address: string): RefusalReason | undefined {
    const at = performance.now();
    if (this.#deps.isBanned(address)) return "banned";
    if (this.#deps.rateLimits.isBlocked(address, at)) return "rate";
    return this.#refusals.has(clientGroup(address), at) ? "offence" : undefined;
  }

  #admit(socket: Socket, address: string): AdmittedSession | CapacityLimit {
    const { isTrusted, isPeer } = this.#deps;
    const isForger = isTrusted(address);
    return this.#admission.admit({
      address,
      isPeer: () => isForger || isPeer(address),
      evict: () => {
        // The address did nothing wrong, so its handshake timer must not refuse it.
        this.#forgetHandshake(socket);
        socket.destroy();
      },
    });
  }

  #forgetHandshake(socket: Duplex): void {
    clearTimeout(this.#handshakes.get(socket));
    this.#handshakes.delete(socket);
  }

  /** Clears the timer of a connection that the client has ended; a client that only connects is refused by the timer. */
  #abandon(socket: Socket, address: string): void {
    const isEndedByClient = socket.readableEnded || socket.errored !== null;
    if (isEndedByClient && this.#abandoned.take(clientGroup(address), performance.now())) {
      this.#forgetHandshake(socket);
    }
  }
}
