/** The server side of the protocol: listens, and serves each admitted connection (p2p.md 2 and 6). */
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import { explainListenError, type ListenAddress } from "../../platform/addresses.ts";
import { createServer } from "../../platform/http.ts";
import { TimeSlices } from "../../platform/threads/time-slices.ts";
import { matchesAddress } from "../addresses.ts";
import type { RateLimits } from "../guards/rate-limits.ts";
import type { ReplyHeaders } from "../wire/client-messages.ts";
import {
  MAX_FRAGMENTS,
  MAX_OPENING_BYTES,
  MAX_UNKNOWN_BYTES,
  MESSAGE_SLICE_MS,
  serverMessageBytes,
  TIMES_MS,
} from "../wire/limits.ts";
import type { RequestHandler } from "./calls.ts";
import { IncomingConnections, type IncomingDeps, type SessionFigures } from "./incoming-connections.ts";
import { Unfinished, Unsent } from "./memory-bounds.ts";
import { IncomingSession, type KeepAlive } from "./session.ts";
import { type ServerOptions, type WebSocket, WebSocketServer } from "./web-socket.ts";

export type PeerServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Connections of one /24 or /64: twice the number of peers, since each peer may be replacing one. */
  readonly maxConnectionsPerSubnet: number;
  /** Patterns of the addresses that may use internal events. */
  readonly remoteAccess: readonly string[];
  /** Defaults to the times of the protocol; shorter in tests. */
  readonly times?: KeepAlive;
};

export type PeerServerDeps = Omit<IncomingDeps, "isTrusted"> & {
  readonly network: Network;
  readonly rateLimits: RateLimits;
  readonly handle: RequestHandler;
  /** Returns true if calls are executed; otherwise the reply to every call is an error. */
  readonly isReady: () => boolean;
  readonly replyHeaders: () => ReplyHeaders;
  readonly logger: Logger;
};

const PATH = "/socketcluster/";
/**
 * Bounds of incomplete messages: of peers and trusted addresses, and of all others. A message is joined and unmasked when
 * its last bytes arrive, and many may be completed in one tick: 32 MiB cost 35 ms.
 */
const MAX_UNFINISHED_BYTES = { known: 128 * 1024 * 1024, unknown: 32 * 1024 * 1024 };
/** Bound of three of the largest replies for each connection, and six in total. */
const UNSENT = { maxBytes: 64 * 1024 * 1024, maxTotalBytes: 128 * 1024 * 1024 };

type Upgraded = { readonly socket: Socket; readonly address: string; readonly kind: "known" | "unknown" };

export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #deps: PeerServerDeps;
  readonly #isTrusted: (address: string) => boolean;
  readonly #connections: IncomingConnections;
  readonly #upgrades: { readonly known: WebSocketServer; readonly unknown: WebSocketServer };
  readonly #unfinished = {
    known: new Unfinished({ maxTotalBytes: MAX_UNFINISHED_BYTES.known }),
    unknown: new Unfinished({ maxTotalBytes: MAX_UNFINISHED_BYTES.unknown }),
  };
  readonly #unsent = new Unsent(UNSENT);
  /** Processes the messages of all sessions. */
  readonly #slices = new TimeSlices({ sliceMs: MESSAGE_SLICE_MS });
  readonly #http: Server;

  constructor(options: PeerServerOptions, deps: PeerServerDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#isTrusted = matchesAddress(options.remoteAccess);
    const incoming = { ...deps, isTrusted: this.#isTrusted };
    this.#connections = new IncomingConnections(options.maxConnectionsPerSubnet, incoming);
    this.#upgrades = {
      known: createUpgrades(serverMessageBytes(deps.network, 0)),
      unknown: createUpgrades(MAX_UNKNOWN_BYTES),
    };
    this.#http = this.#createHttpServer();
  }

  /**
   * Settles with the port.
   *
   * @throws {Error} when it cannot listen, for instance because the port is taken
   */
  listen(): Promise<number> {
    const http = this.#http;
    const options = this.#options;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(explainListenError(error, listenAddress(options)));
      http.once("error", fail);
      // Without a host, Node.js listens on every address; IPv6 may be disabled on the machine.
      http.listen(options.port, options.host === "::" ? undefined : options.host, () => {
        http.off("error", fail);
        resolve((http.address() as AddressInfo).port);
      });
    });
  }

  figures(): SessionFigures {
    return this.#connections.figures();
  }

  /** Ends the connections of a client. */
  endSessions(address: string): void {
    this.#connections.destroyClient(address);
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.#connections.destroyAll();
    await closed;
  }

  #createHttpServer(): Server {
    const http = createServer();
    http.timeout = TIMES_MS.upgrade;
    http.on("connection", (socket: Socket) => this.#connections.accept(socket));
    http.on("request", ({ method, url, socket }, response) => {
      if (method === "GET" && url?.split("?", 1)[0] === PATH) {
        response.writeHead(400, { Connection: "close" }).end();
      } else this.#connections.refuse(socket, "offence");
    });
    http.on("clientError", (_error, socket) => socket.destroy());
    http.on("upgrade", (request, _socket, head) => this.#upgrade(request, head));
    return http;
  }

  #upgrade(request: IncomingMessage, head: Buffer): void {
    const { socket } = request;
    const address = this.#connections.addressOf(socket);
    if (address === undefined) return void socket.destroy();
    const kind = this.#isTrusted(address) || this.#deps.isPeer(address) ? "known" : "unknown";
    this.#upgrades[kind].handleUpgrade(request, socket, head, (webSocket) =>
      this.#serve(webSocket, { socket, address, kind }),
    );
  }

  /** @param upgraded has the socket that carries `webSocket` */
  #serve(webSocket: WebSocket, { socket, address, kind }: Upgraded): void {
    const deps = this.#deps;
    const connections = this.#connections;
    const cut = (reason: "unfinished" | "unsent") => {
      connections.countCut(reason);
      webSocket.terminate();
    };
    const maxOpenBytes = () => Math.min(this.#maxBytes(), kind === "known" ? Infinity : MAX_UNKNOWN_BYTES);
    let maxBytes = () => MAX_OPENING_BYTES;
    const finished = this.#unfinished[kind].watch(
      socket,
      () => maxBytes(),
      () => cut("unfinished"),
    );
    new IncomingSession(webSocket, {
      caller: { address, isTrusted: this.#isTrusted(address) },
      handle: deps.handle,
      isReady: deps.isReady,
      replyHeaders: deps.replyHeaders,
      rateLimits: deps.rateLimits,
      times: this.#options.times ?? TIMES_MS,
      unsent: this.#unsent,
      maxBytes: maxOpenBytes,
      onOpen: () => {
        maxBytes = maxOpenBytes;
        connections.markOpen(socket);
      },
      slices: this.#slices,
      onProcessed: finished,
      onUnsent: () => cut("unsent"),
      onOffence: ({ code, message }) => {
        deps.logger.debug({ address, code, reason: message }, "connection closed: protocol violation");
        connections.refuse(socket, "offence");
      },
    });
  }

  /** Returns the maximum length of a message. */
  #maxBytes(): number {
    const { network, replyHeaders } = this.#deps;
    return serverMessageBytes(network, replyHeaders().height ?? 0);
  }
}

function createUpgrades(maxPayload: number): WebSocketServer {
  const options: ServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    path: PATH,
    maxPayload,
    maxFragments: MAX_FRAGMENTS,
    perMessageDeflate: false,
    autoPong: false,
    clientTracking: false,
    closeTimeout: TIMES_MS.close,
  };
  return new WebSocketServer(options);
}

/** Other nodes of the network expect this port: another port would hide the node from them. */
const PORT_ADVICE =
  "other nodes expect this port: stop the program that uses it, or choose another address with --p2p-host, or another port " +
  "for a network of your own with --p2p-port";

const listenAddress = ({ host, port }: PeerServerOptions): ListenAddress => ({
  ...{ host, port },
  ...{ portFlag: "--p2p-port", hostFlag: "--p2p-host", portAdvice: PORT_ADVICE },
});
