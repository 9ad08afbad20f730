/**
 * An old node as p2p.md describes it, independent of our own transport: it checks every rule, cuts callers that break
 * one, and records the violation. As the peer layer of ARK Core 2.7.26, it counts requests when it reads them.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createListener, type Socket } from "node:net";
import { type Block, blockFromBytes, bytesToHex, headerToJson, type Network } from "@uniknode/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { present } from "../../../src/platform/present.ts";

export type OldNode = {
  /** Its chain from block 1 on; pushed blocks are sent on request. */
  readonly chain: Block[];
  /** Ids of the transactions that were posted to it. */
  readonly transactions: string[];
  /** Names of the received events, in order. */
  readonly requested: string[];
  /** Rules that a caller has broken. */
  readonly broken: string[];
  /** While false, it replies to every event with the error "not ready". */
  isReady: boolean;
  /** Height of the last block that was posted to it. */
  posted: number;
  /** If set, it refuses posted blocks so late. */
  refusesAfterMs: number | undefined;
  /** Cuts the connection to it. */
  cut(): void;
  /** Accepts connections from now on, but reads and sends nothing, as a stopped process. */
  sleep(): void;
  /** Reads everything that has arrived since. */
  wake(): void;
  /** Connections since the start. */
  connections: number;
  close(): void;
};

type Call = { event: string; data: { data: Record<string, unknown>; headers: unknown }; cid: number };

/** Rate limits of one address, with the milliseconds of their windows (p2p.md 5). */
const LIMITS: Readonly<Record<string, readonly [events: number, windowMs: number]>> = {
  "p2p.peer.getPeers": [1, 1_000],
  "p2p.peer.getStatus": [2, 1_000],
  "p2p.peer.getCommonBlocks": [9, 1_000],
  "p2p.peer.getBlocks": [1, 2_000],
  "p2p.peer.postBlock": [2, 4_000],
  "p2p.peer.postTransactions": [100, 1_000],
};
/** Time from the connection to the handshake. */
export const HANDSHAKE_MS = 4_000;
const HANDSHAKE = '{"event":"#handshake","data":{"authToken":null},"cid":1}';
const HANDSHAKE_REPLY =
  '{"rid":1,"data":{"id":"q900mXXGCbwsc0pmAAAA","pingTimeout":60000,"isAuthenticated":false}}';

export async function startOldNode(options: {
  readonly network: Network;
  readonly host: string;
  readonly port: number;
  readonly genesis: Block;
  /** Its status without the state. */
  readonly config: object;
  readonly currentSlot: () => number;
}): Promise<OldNode> {
  const { network, config, currentSlot } = options;
  const server = createServer();
  const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, autoPong: false });
  const sockets = new Set<Socket>();
  const waiting: Socket[] = [];
  /** Timers of the handshakes; the end of a connection does not clear them (p2p.md 2.1). */
  const handshakes = new WeakMap<object, NodeJS.Timeout>();
  let isAsleep = false;
  const windows = new Map<string, { readonly startedAt: number; events: number }>();
  let connection: WebSocket | undefined;

  const node: OldNode = {
    chain: [options.genesis],
    transactions: [],
    requested: [],
    broken: [],
    isReady: false,
    posted: 0,
    refusesAfterMs: undefined,
    connections: 0,
    cut: () => connection?.terminate(),
    sleep() {
      isAsleep = true;
      for (const socket of sockets) socket.pause();
    },
    wake() {
      isAsleep = false;
      for (const socket of sockets) if (!waiting.includes(socket)) socket.resume();
      // It reads the connections that have ended before the new ones.
      setTimeout(() => {
        for (const socket of waiting.splice(0)) begin(socket);
      }, 50);
    },
    close() {
      for (const socket of sockets) {
        clearTimeout(handshakes.get(socket));
        socket.destroy();
      }
      listener.close();
    },
  };
  const head = () => present(node.chain.at(-1));

  const listener = createListener({ pauseOnConnect: true }, (socket) => {
    node.connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    if (isAsleep) waiting.push(socket);
    else begin(socket);
  });
  const begin = (socket: Socket) => {
    const due = setTimeout(() => node.broken.push("no handshake within 4 s"), HANDSHAKE_MS);
    handshakes.set(socket, due);
    server.emit("connection", socket);
    socket.resume();
  };
  server.on("upgrade", (request, socket, first) => {
    if (request.url !== "/socketcluster/") node.broken.push(`path ${request.url}`);
    if (request.headers["sec-websocket-extensions"]) node.broken.push("an extension is offered");
    upgrades.handleUpgrade(request, socket, first, (webSocket) => {
      if (connection?.readyState === webSocket.OPEN) node.broken.push("two connections of one address");
      connection?.terminate();
      connection = webSocket;
      serve(webSocket, () => clearTimeout(handshakes.get(socket)));
    });
  });

  function serve(socket: WebSocket, onHandshake: () => void): void {
    const callIds = new Set<number>([1]);
    let isOpen = false;
    let isEnding = false;
    let pongAt = 0;
    const pings = setInterval(() => {
      if (!isAsleep) socket.send("#1");
    }, 8_000);
    socket.on("close", () => clearInterval(pings));
    const offence = (rule: string) => {
      node.broken.push(rule);
      socket.terminate();
    };
    socket.on("ping", () => offence("a ping of WebSocket"));
    socket.on("pong", () => offence("a pong of WebSocket"));
    socket.on("message", (data, isBinary) => {
      const text = String(data);
      if (isBinary) return offence("a binary frame");
      if (isEnding) return offence(`${text} behind the end`);
      if (text === "#2") {
        if (Date.now() - pongAt < 1_000) offence("two pongs in a second");
        pongAt = Date.now();
      } else if (/^\{"event":"#disconnect","data":\{"code":\d+\}\}$/.test(text)) isEnding = true;
      else if (isOpen) {
        const call = JSON.parse(text) as Call;
        const rule = brokenRule(call, text, callIds);
        if (rule) offence(rule);
        else sendReply(socket, call);
      } else if (text === HANDSHAKE) {
        isOpen = true;
        onHandshake();
        socket.send(HANDSHAKE_REPLY);
      } else offence(`${text} instead of the handshake`);
    });
  }

  function brokenRule(call: Call, text: string, callIds: Set<number>): string | undefined {
    const { event, data, cid } = call;
    const limit = LIMITS[event];
    if (!limit) return `the event ${event}`;
    const form = { event, data: { data: data.data, headers: { "Content-Type": "application/json" } }, cid };
    if (JSON.stringify(form) !== text) return `the form of ${text}`;
    if (callIds.has(cid)) return `a second call ${cid}`;
    callIds.add(cid);
    const [events, windowMs] = limit;
    const window = windows.get(event);
    if (!window || Date.now() - window.startedAt >= windowMs) {
      windows.set(event, { startedAt: Date.now(), events: 1 });
    } else if (++window.events > events) return `more than ${events} ${event}`;
    return undefined;
  }

  function sendReply(socket: WebSocket, { event, data, cid }: Call): void {
    node.requested.push(event);
    if (event === "p2p.peer.postBlock" && node.refusesAfterMs !== undefined) {
      const refusal = JSON.stringify({ rid: cid, error: { message: "refused" } });
      setTimeout(() => socket.send(refusal, () => {}), node.refusesAfterMs);
      return;
    }
    const result = node.isReady ? resultOf(event, data.data) : "App is not ready.";
    const headers = { version: "5.7.2", height: head().header.height };
    const reply =
      typeof result === "string" ? { error: { message: result } } : { data: { data: result, headers } };
    socket.send(JSON.stringify({ rid: cid, ...reply }));
  }

  /** A text is the message of an error. */
  function resultOf(event: string, argument: Record<string, unknown>): object | string {
    switch (event) {
      case "p2p.peer.getStatus": {
        const { header } = head();
        const state = { height: header.height, forgingAllowed: true, currentSlot: currentSlot() };
        return { state: { ...state, header: headerToJson(header) }, config };
      }
      case "p2p.peer.getCommonBlocks": {
        const ids = argument.ids as string[];
        const common = node.chain.findLast(({ header }) => ids.includes(header.id));
        if (!common) return `${event} responded with Couldn't find any common blocks.`;
        return { common: headerToJson(common.header), lastBlockHeight: head().header.height };
      }
      case "p2p.peer.getBlocks": {
        const { lastBlockHeight, blockLimit, headersOnly } = argument as Record<string, number>;
        const end = present(lastBlockHeight) + (blockLimit ?? 400);
        return node.chain.slice(lastBlockHeight, end).map((block) => toJson(block, Boolean(headersOnly)));
      }
      case "p2p.peer.postBlock": {
        const { data } = argument.block as { data: string };
        const { height } = head().header;
        const block = blockFromBytes(Buffer.from(data, "base64"), { network, height });
        node.posted = block.header.height;
        if (block.header.height === height + 1) node.chain.push(block);
        return {};
      }
      case "p2p.peer.postTransactions":
        node.transactions.push(...(argument.transactions as { id: string }[]).map(({ id }) => id));
        return [];
      default:
        return [];
    }
  }

  listener.listen(options.port, options.host);
  await once(listener, "listening");
  return node;
}

function toJson({ header, transactions }: Block, isHeaderOnly: boolean): object {
  const { idHex: _, previousBlockHex: __, ...json } = headerToJson(header);
  return transactions.length === 0 || isHeaderOnly
    ? json
    : { ...json, transactions: transactions.map(({ bytes }) => bytesToHex(bytes)) };
}
