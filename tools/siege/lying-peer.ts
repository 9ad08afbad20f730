/** A peer that passes the verification with a block of its own, and replies to requests for blocks with what it likes. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type BlockHeader, headerToJson } from "@uniknode/protocol";
import { type WebSocket, WebSocketServer } from "ws";

export type Lies = {
  /** Status of an honest node, whose head and height are replaced. */
  readonly status: { readonly state: object; readonly config: object };
  /** Head of the honest node. */
  readonly common: BlockHeader;
  /** The next block, which the peer claims to have. */
  readonly head: BlockHeader;
  /** Result of a request for blocks, as JSON. */
  readonly blocks: string;
};

export type LyingPeer = {
  /** Requests for blocks that it has replied to. */
  readonly requests: () => number;
  close(): void;
};

type Call = {
  readonly event: string;
  readonly cid: number;
  readonly data: { readonly data: { readonly headersOnly?: boolean } };
};

const HANDSHAKE_REPLY =
  '{"rid":1,"data":{"id":"q900mXXGCbwsc0pmAAAA","pingTimeout":60000,"isAuthenticated":false}}';

/** Listens on an address until `close` is called. */
export async function startLyingPeer(host: string, port: number, lies: Lies): Promise<LyingPeer> {
  let requests = 0;
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, autoPong: false });
  sockets.on("connection", (socket: WebSocket) => {
    // The node closes connections of peers that lie.
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const text = String(data);
      if (text.includes('"#handshake"')) return socket.send(HANDSHAKE_REPLY);
      if (!text.includes('"cid"')) return;
      const call = JSON.parse(text) as Call;
      if (call.event === "p2p.peer.getBlocks" && !call.data.data.headersOnly) requests++;
      const headers = `{"version":"5.7.2","height":${lies.head.height}}`;
      socket.send(`{"rid":${call.cid},"data":{"data":${replyTo(call, lies)},"headers":${headers}}}`);
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    requests: () => requests,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
    },
  };
}

function replyTo({ event, data }: Call, { status, common, head, blocks }: Lies): string {
  switch (event) {
    case "p2p.peer.getStatus": {
      const state = { ...status.state, height: head.height, header: headerToJson(head) };
      return JSON.stringify({ state, config: status.config });
    }
    case "p2p.peer.getCommonBlocks":
      return JSON.stringify({ common: headerToJson(common), lastBlockHeight: head.height });
    case "p2p.peer.getBlocks":
      return data.data.headersOnly ? JSON.stringify([headerToJson(head)]) : blocks;
    default:
      return "[]";
  }
}
