/** The server side of the protocol: listens, guards the door, and serves each connection (p2p.md 2 and 6). */
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import { WebSocketServer } from "ws";
import { clientGroup } from "../../platform/addresses/groups.ts";
import { normalizeAddress } from "../addresses.ts";
import { type AdmittedSession, type CapacityLimit, createAdmission } from "../guards/admission.ts";
import type { RateLimits } from "../guards/rate-limits.ts";
import { createRefusals } from "../guards/refusals.ts";
import type { ReplyHeaders } from "../wire/headers.ts";
import { serverMessageBytes, TIMES_MS } from "../wire/limits.ts";
import { matchesAddress } from "./address-patterns.ts";
import type { Caller, RequestHandler } from "./handler.ts";
import { type KeepAlive, serveSession } from "./session.ts";
import { createUnfinished } from "./unfinished.ts";
import { createUnsent } from "./unsent.ts";

export type PeerServerOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Connections of one /24 or /64; twice as many as peers, since each peer may be replacing one. */
  readonly maxConnectionsPerSubnet: number;
  /** Patterns of the addresses that may use internal events. */
  readonly remoteAccess: readonly string[];
  /** Those of the protocol, unless a test is in a hurry. */
  readonly times?: KeepAlive;
};

export type PeerServerDeps = {
  readonly network: Network;
  readonly rateLimits: RateLimits;
  readonly answer: RequestHandler;
  /** Whether calls are executed at all. */
  readonly isReady: () => boolean;
  readonly replyHeaders: () => ReplyHeaders;
  /** Whether an address is not to be heard. */
  readonly isBanned: (address: string) => boolean;
  /** Whether a plain address is that of a peer: strangers make room for it. */
  readonly isPeer: (address: string) => boolean;
  /** Is given the socket of every connection that is not refused at once. */
  readonly onSocket?: (socket: Socket) => void;
  readonly logger: Logger;
};

/** Why a connection is ended before it can say anything. */
type RefusalReason = "banned" | "rate" | "offence" | CapacityLimit;

/** Why a connection is ended later on: no handshake in time, a broken rule, too many bytes that are held for it. */
type CutReason = "handshake" | "offence" | "unfinished" | "unsent";

export type SessionFigures = {
  /** Connections of others at this moment, and those of them that have not shaken hands. */
  readonly sessions: number;
  readonly handshakes: number;
  /** Since the process started: those that made room for others, those refused and those ended later on. */
  readonly evicted: number;
  readonly refused: Readonly<Record<RefusalReason, number>>;
  readonly cut: Readonly<Record<CutReason, number>>;
};

export type PeerServer = {
  /**
   * Settles with the port.
   *
   * @throws {Error} when it cannot listen, for instance because the port is taken
   */
  listen(): Promise<number>;
  figures(): SessionFigures;
  /** Ends every connection. */
  close(): Promise<void>;
};

const PATH = "/socketcluster/";
/** More than there are delegates, relays and crawlers; what is left is for strangers who only take up room. */
const MAX_CONNECTIONS = 1_000;
/** Connections of one address that live at a time: one, and some whose end has not been noticed. */
const MAX_CONNECTIONS_PER_ADDRESS = 4;
const MAX_UNFINISHED_BYTES = 128 * 1024 * 1024;
/** Three of the largest replies for each connection, and six of them altogether. */
const UNSENT = { maxBytes: 64 * 1024 * 1024, maxTotalBytes: 128 * 1024 * 1024 };

export function createPeerServer(options: PeerServerOptions, deps: PeerServerDeps): PeerServer {
  const { logger } = deps;
  const isTrusted = matchesAddress(options.remoteAccess);
  const refusals = createRefusals({ durationMs: TIMES_MS.refusal });
  const admission = createAdmission({ perSubnet: options.maxConnectionsPerSubnet, total: MAX_CONNECTIONS });
  const unfinished = createUnfinished({ maxTotalBytes: MAX_UNFINISHED_BYTES });
  const unsent = createUnsent(UNSENT);
  const maxBytes = serverMessageBytes(deps.network);
  const upgrades = new WebSocketServer({
    noServer: true,
    path: PATH,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    autoPong: false,
    clientTracking: true,
  });
  const refused = { banned: 0, rate: 0, offence: 0, total: 0, subnet: 0 };
  const cut = { handshake: 0, offence: 0, unfinished: 0, unsent: 0 };
  /** By socket: one that was destroyed does not know it any more. */
  const addresses = new WeakMap<Duplex, string>();
  const sessions = new WeakMap<Duplex, AdmittedSession>();
  /** Sockets whose handshake is not done yet, each with the timer that ends it. */
  const handshakes = new Map<Duplex, NodeJS.Timeout>();
  /** Open sockets by address, the oldest first. */
  const open = new Map<string, Set<Socket>>();

  const http = createServer();
  http.timeout = TIMES_MS.upgrade;
  http.on("connection", accept);
  http.on("request", ({ method, url, socket }, response) => {
    if (method === "GET" && url?.split("?", 1)[0] === PATH) {
      response.writeHead(400, { Connection: "close" }).end();
    } else refuse(socket, "offence");
  });
  http.on("clientError", (_error, socket) => socket.destroy());
  http.on("upgrade", upgrade);

  function accept(socket: Socket): void {
    const { remoteAddress } = socket;
    const address = remoteAddress && normalizeAddress(remoteAddress);
    if (address === undefined || isIP(address) === 0) return void socket.destroy();
    const entered = refusalOf(address) ?? admit(socket, address);
    if (typeof entered === "string") {
      refused[entered]++;
      return void socket.destroy();
    }
    // The timer is not ended by a close: an address that only connects is refused for a while.
    const timer = setTimeout(() => refuse(socket, "handshake"), TIMES_MS.handshake);
    handshakes.set(socket, timer.unref());
    sessions.set(socket, entered);
    socket.once("close", entered.leave);
    socket.on("error", () => {});
    addresses.set(socket, address);
    deps.onSocket?.(socket);
  }

  function refusalOf(address: string): RefusalReason | undefined {
    const at = performance.now();
    if (deps.isBanned(address)) return "banned";
    if (deps.rateLimits.isBlocked(address, at)) return "rate";
    return refusals.has(clientGroup(address), at) ? "offence" : undefined;
  }

  function admit(socket: Socket, address: string): AdmittedSession | CapacityLimit {
    const isForger = isTrusted(address);
    return admission.enter({
      address,
      isPeer: () => isForger || deps.isPeer(address),
      evict() {
        // It did nothing wrong.
        forgetHandshake(socket);
        socket.destroy();
      },
    });
  }

  function forgetHandshake(socket: Duplex): void {
    clearTimeout(handshakes.get(socket));
    handshakes.delete(socket);
  }

  function refuse(socket: Socket, reason: CutReason): void {
    cut[reason]++;
    handshakes.delete(socket);
    const address = addresses.get(socket);
    if (address !== undefined) refusals.add(clientGroup(address), performance.now());
    socket.destroy();
  }

  function upgrade(request: IncomingMessage, _socket: Duplex, head: Buffer): void {
    const { socket } = request;
    const address = addresses.get(socket);
    if (address === undefined) return void socket.destroy();
    upgrades.handleUpgrade(request, socket, head, (webSocket) => {
      const caller: Caller = { address, isTrusted: isTrusted(address) };
      const watched = unfinished.watch(
        socket,
        () => maxBytes,
        () => {
          cut.unfinished++;
          webSocket.terminate();
        },
      );
      serveSession(webSocket, {
        caller,
        answer: deps.answer,
        isReady: deps.isReady,
        replyHeaders: deps.replyHeaders,
        rateLimits: deps.rateLimits,
        times: options.times ?? TIMES_MS,
        unsent,
        onOpen: () => opened(socket, address),
        onMessage: watched.finished,
        onUnsent() {
          cut.unsent++;
          webSocket.terminate();
        },
        onOffence: ({ code, message }) => {
          logger.debug({ address, code, reason: message }, "a connection was cut");
          refuse(socket, "offence");
        },
      });
    });
  }

  function opened(socket: Socket, address: string): void {
    forgetHandshake(socket);
    sessions.get(socket)?.opened();
    const sockets = open.get(address) ?? new Set();
    open.set(address, sockets.add(socket));
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) open.delete(address);
    });
    const [oldest] = sockets;
    if (sockets.size > MAX_CONNECTIONS_PER_ADDRESS) oldest!.destroy();
  }

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        const fail = (error: Error) => reject(explained(error, options));
        http.once("error", fail);
        // Without a host, every address of the kinds that the machine has: IPv6 may be switched off.
        http.listen(options.port, options.host === "::" ? undefined : options.host, () => {
          http.off("error", fail);
          resolve((http.address() as AddressInfo).port);
        });
      }),
    figures: () => ({ ...admission.figures(), refused, cut }),
    async close() {
      for (const timer of handshakes.values()) clearTimeout(timer);
      for (const client of upgrades.clients) client.terminate();
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** The usual reasons for which nobody can listen, with what to do about them. */
function explained(error: Error & { code?: string }, { host, port }: PeerServerOptions): Error {
  if (error.code === "EADDRINUSE") {
    return new Error(
      `port ${port} of ${host} is in use, and a network has one port: stop the other node, or choose another address ` +
        "with --p2p-host",
      { cause: error },
    );
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return new Error(`${host} is no address of this machine; choose another with --p2p-host`, {
      cause: error,
    });
  }
  return error;
}
