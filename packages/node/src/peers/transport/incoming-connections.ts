/** Incoming connections from their admission to their end: which are admitted, refused or cut (p2p.md 6.1). */
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clientGroup } from "../../platform/addresses/groups.ts";
import { normalizeAddress } from "../addresses.ts";
import {
  type Admission,
  type AdmittedSession,
  type CapacityLimit,
  createAdmission,
} from "../guards/admission.ts";
import type { RateLimits } from "../guards/rate-limits.ts";
import { createRefusals, type Refusals } from "../guards/refusals.ts";
import { createWindowCounter, type WindowCounter } from "../guards/window.ts";
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

export type IncomingConnections = {
  /** Admits a connection, or destroys it. */
  accept(socket: Socket): void;
  /** Returns the normalized address of an admitted connection, also after its end. */
  addressOf(socket: Duplex): string | undefined;
  /** Called when the handshake of an admitted connection is done. */
  markOpen(socket: Socket): void;
  /** Cuts a connection, and refuses further ones of its address for a while. */
  refuse(socket: Socket, reason: Offence): void;
  /** Counts a connection that is cut because too many bytes are in memory for it. */
  countCut(reason: Exclude<CutReason, Offence>): void;
  figures(): SessionFigures;
  destroyAll(): void;
};

/** More than the delegates, relays and crawlers of a network need. */
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

type State = {
  readonly deps: IncomingDeps;
  readonly refusals: Refusals;
  /** Counts the attempts that each client has given up. */
  readonly abandoned: WindowCounter;
  readonly admission: Admission;
  readonly admitted: WeakMap<Duplex, Admitted>;
  /** Sockets without a handshake, each with its timer. */
  readonly handshakes: Map<Duplex, NodeJS.Timeout>;
  /** Every admitted connection. */
  readonly sockets: Set<Socket>;
  /** Open sockets by address, the oldest first. */
  readonly open: Map<string, Set<Socket>>;
  readonly refused: Record<RefusalReason, number>;
  readonly cut: Record<CutReason, number>;
};

/** @param perSubnet maximum number of connections of one /24 or /64 */
export function createIncomingConnections(perSubnet: number, deps: IncomingDeps): IncomingConnections {
  const state: State = {
    deps,
    refusals: createRefusals({ durationMs: TIMES_MS.refusal }),
    abandoned: createWindowCounter(ABANDONED),
    admission: createAdmission({ perSubnet, total: MAX_CONNECTIONS }),
    admitted: new WeakMap(),
    handshakes: new Map(),
    sockets: new Set(),
    open: new Map(),
    refused: { banned: 0, rate: 0, offence: 0, total: 0, subnet: 0 },
    cut: { handshake: 0, offence: 0, unfinished: 0, unsent: 0 },
  };
  const { admission, admitted, refused, cut } = state;
  return {
    accept: (socket) => accept(state, socket),
    addressOf: (socket) => admitted.get(socket)?.address,
    markOpen: (socket) => markOpen(state, socket),
    refuse: (socket, reason) => refuse(state, socket, reason),
    countCut(reason) {
      cut[reason]++;
    },
    figures: () => ({ ...admission.figures(), refused, cut }),
    destroyAll() {
      for (const timer of state.handshakes.values()) clearTimeout(timer);
      for (const socket of state.sockets) socket.destroy();
    },
  };
}

function accept(state: State, socket: Socket): void {
  const { remoteAddress } = socket;
  const address = remoteAddress && normalizeAddress(remoteAddress);
  if (address === undefined || isIP(address) === 0) return void socket.destroy();
  const session = refusalReason(state, address) ?? admit(state, socket, address);
  if (typeof session === "string") {
    state.refused[session]++;
    return void socket.destroy();
  }
  const timer = setTimeout(() => refuse(state, socket, "handshake"), TIMES_MS.handshake);
  state.handshakes.set(socket, timer.unref());
  state.admitted.set(socket, { address, session });
  state.sockets.add(socket);
  socket.once("close", () => {
    state.sockets.delete(socket);
    session.release();
    if (state.handshakes.has(socket)) abandon(state, socket, address);
  });
  socket.on("error", () => {});
  state.deps.onSocket?.(socket);
}

function refusalReason({ deps, refusals }: State, address: string): RefusalReason | undefined {
  const at = performance.now();
  if (deps.isBanned(address)) return "banned";
  if (deps.rateLimits.isBlocked(address, at)) return "rate";
  return refusals.has(clientGroup(address), at) ? "offence" : undefined;
}

function admit(state: State, socket: Socket, address: string): AdmittedSession | CapacityLimit {
  const { isTrusted, isPeer } = state.deps;
  const isForger = isTrusted(address);
  return state.admission.admit({
    address,
    isPeer: () => isForger || isPeer(address),
    evict() {
      // The address did nothing wrong, so its handshake timer must not refuse it.
      forgetHandshake(state, socket);
      socket.destroy();
    },
  });
}

function forgetHandshake({ handshakes }: State, socket: Duplex): void {
  clearTimeout(handshakes.get(socket));
  handshakes.delete(socket);
}

/** Clears the timer of a connection that the client has ended; a client that only connects is refused by the timer. */
function abandon(state: State, socket: Socket, address: string): void {
  const isEndedByClient = socket.readableEnded || socket.errored !== null;
  if (isEndedByClient && state.abandoned.take(clientGroup(address), performance.now())) {
    forgetHandshake(state, socket);
  }
}

function refuse(state: State, socket: Socket, reason: Offence): void {
  state.cut[reason]++;
  forgetHandshake(state, socket);
  const address = state.admitted.get(socket)?.address;
  if (address !== undefined) state.refusals.add(clientGroup(address), performance.now());
  socket.destroy();
}

function markOpen(state: State, socket: Socket): void {
  forgetHandshake(state, socket);
  const admitted = state.admitted.get(socket);
  if (!admitted) return;
  const { address, session } = admitted;
  session.markOpen();
  const sockets = state.open.get(address) ?? new Set();
  state.open.set(address, sockets.add(socket));
  socket.once("close", () => {
    sockets.delete(socket);
    if (sockets.size === 0) state.open.delete(address);
  });
  const [oldest] = sockets;
  if (sockets.size > MAX_CONNECTIONS_PER_ADDRESS) oldest?.destroy();
}
