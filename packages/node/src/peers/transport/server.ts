/** The server side of the protocol: listens, admits or refuses connections, and serves each (p2p.md 2 and 6). */
import type { IncomingMessage } from "node:http";
import { type AddressInfo, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import { clientGroup } from "../../platform/addresses/groups.ts";
import { explainListenError, type ListenAddress } from "../../platform/addresses/listen-error.ts";
import { createServer } from "../../platform/http.ts";
import { createTimeSlices } from "../../platform/threads/time-slices.ts";
import { normalizeAddress } from "../addresses.ts";
import { type AdmittedSession, type CapacityLimit, createAdmission } from "../guards/admission.ts";
import type { RateLimits } from "../guards/rate-limits.ts";
import { createRefusals } from "../guards/refusals.ts";
import type { ReplyHeaders } from "../wire/headers.ts";
import { MESSAGE_SLICE_MS, serverMessageBytes, TIMES_MS } from "../wire/limits.ts";
import { matchesAddress } from "./address-patterns.ts";
import type { Caller, RequestHandler } from "./handler.ts";
import { type KeepAlive, serveSession } from "./session.ts";
import { createUnfinished } from "./unfinished.ts";
import { createUnsent } from "./unsent.ts";
import { type ServerOptions, WebSocketServer } from "./web-socket.ts";

export type PeerServerOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Connections of one /24 or /64: twice the number of peers, since each peer may be replacing one. */
  readonly maxConnectionsPerSubnet: number;
  /** Patterns of the addresses that may use internal events. */
  readonly remoteAccess: readonly string[];
  /** Defaults to the times of the protocol; shorter in tests. */
  readonly times?: KeepAlive;
};

export type PeerServerDeps = {
  readonly network: Network;
  readonly rateLimits: RateLimits;
  readonly answer: RequestHandler;
  /** Returns true if calls are executed; otherwise the reply to every call is an error. */
  readonly isReady: () => boolean;
  readonly replyHeaders: () => ReplyHeaders;
  /** Returns true if connections of an address are refused. */
  readonly isBanned: (address: string) => boolean;
  /** Returns true if a normalized address belongs to a peer: other sessions are evicted for it. */
  readonly isPeer: (address: string) => boolean;
  /** Called with the socket of every admitted connection. */
  readonly onSocket?: (socket: Socket) => void;
  readonly logger: Logger;
};

/** The reason why a connection is refused before its first message. */
type RefusalReason = "banned" | "rate" | "offence" | CapacityLimit;

/**
 * The reason why an admitted connection is cut: no handshake in time, a broken rule, too many bytes in memory
 * for it.
 */
type CutReason = "handshake" | "offence" | "unfinished" | "unsent";

export type SessionFigures = {
  /** Current incoming connections, and the number without a handshake. */
  readonly sessions: number;
  readonly handshakes: number;
  /** Connections that were evicted for others, refused, and cut, since the process started. */
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
/** More than the delegates, relays and crawlers of a network need. */
const MAX_CONNECTIONS = 1_000;
/** Open connections of one address: one, and some whose end is not detected yet. */
const MAX_CONNECTIONS_PER_ADDRESS = 4;
const MAX_UNFINISHED_BYTES = 128 * 1024 * 1024;
/** Bound of three of the largest replies for each connection, and six in total. */
const UNSENT = { maxBytes: 64 * 1024 * 1024, maxTotalBytes: 128 * 1024 * 1024 };

export function createPeerServer(options: PeerServerOptions, deps: PeerServerDeps): PeerServer {
  const { logger } = deps;
  const isTrusted = matchesAddress(options.remoteAccess);
  const refusals = createRefusals({ durationMs: TIMES_MS.refusal });
  const admission = createAdmission({ perSubnet: options.maxConnectionsPerSubnet, total: MAX_CONNECTIONS });
  const unfinished = createUnfinished({ maxTotalBytes: MAX_UNFINISHED_BYTES });
  const unsent = createUnsent(UNSENT);
  const slices = createTimeSlices({ sliceMs: MESSAGE_SLICE_MS });
  const maxBytes = serverMessageBytes(deps.network);
  const upgradeOptions: ServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    path: PATH,
    maxPayload: maxBytes,
    perMessageDeflate: false,
    autoPong: false,
    clientTracking: false,
    closeTimeout: TIMES_MS.close,
  };
  const upgrades = new WebSocketServer(upgradeOptions);
  const refused = { banned: 0, rate: 0, offence: 0, total: 0, subnet: 0 };
  const cut = { handshake: 0, offence: 0, unfinished: 0, unsent: 0 };
  /** Addresses by socket, because a destroyed socket no longer has its address. */
  const addresses = new WeakMap<Duplex, string>();
  const sessions = new WeakMap<Duplex, AdmittedSession>();
  /** Sockets without a handshake, each with its timer. */
  const handshakes = new Map<Duplex, NodeJS.Timeout>();
  /** Every admitted connection. */
  const sockets = new Set<Socket>();
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
    const admitted = refusalReason(address) ?? admit(socket, address);
    if (typeof admitted === "string") {
      refused[admitted]++;
      return void socket.destroy();
    }
    // A close does not clear the timer: an address that only connects is refused for a while.
    const timer = setTimeout(() => refuse(socket, "handshake"), TIMES_MS.handshake);
    handshakes.set(socket, timer.unref());
    sessions.set(socket, admitted);
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      admitted.release();
    });
    socket.on("error", () => {});
    addresses.set(socket, address);
    deps.onSocket?.(socket);
  }

  function refusalReason(address: string): RefusalReason | undefined {
    const at = performance.now();
    if (deps.isBanned(address)) return "banned";
    if (deps.rateLimits.isBlocked(address, at)) return "rate";
    return refusals.has(clientGroup(address), at) ? "offence" : undefined;
  }

  function admit(socket: Socket, address: string): AdmittedSession | CapacityLimit {
    const isForger = isTrusted(address);
    return admission.admit({
      address,
      isPeer: () => isForger || deps.isPeer(address),
      evict() {
        // The address did nothing wrong, so its handshake timer must not refuse it.
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
    forgetHandshake(socket);
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
        onOpen: () => onHandshakeDone(socket, address),
        slices,
        onProcessed: watched.finished,
        onUnsent() {
          cut.unsent++;
          webSocket.terminate();
        },
        onOffence: ({ code, message }) => {
          logger.debug({ address, code, reason: message }, "connection closed: protocol violation");
          refuse(socket, "offence");
        },
      });
    });
  }

  function onHandshakeDone(socket: Socket, address: string): void {
    forgetHandshake(socket);
    sessions.get(socket)?.markOpen();
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
        const fail = (error: Error) => reject(explainListenError(error, listenAddress(options)));
        http.once("error", fail);
        // Without a host, Node.js listens on every address; IPv6 may be disabled on the machine.
        http.listen(options.port, options.host === "::" ? undefined : options.host, () => {
          http.off("error", fail);
          resolve((http.address() as AddressInfo).port);
        });
      }),
    figures: () => ({ ...admission.figures(), refused, cut }),
    async close() {
      for (const timer of handshakes.values()) clearTimeout(timer);
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Other nodes of the network expect this port: another port would hide the node from them. */
const PORT_ADVICE =
  "other nodes expect this port: stop the program that uses it, or choose another address with --p2p-host, or another port " +
  "for a network of your own with --p2p-port";

const listenAddress = ({ host, port }: PeerServerOptions): ListenAddress => ({
  ...{ host, port },
  ...{ portFlag: "--p2p-port", hostFlag: "--p2p-host", portAdvice: PORT_ADVICE },
});
