/** A proxy in front of a server that loses or holds back bytes, for tests. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { until } from "../process/until.ts";

export type LossyProxy = {
  readonly port: number;
  /** Discards what the server sends from now on, if `isLosing`. */
  loseReplies(isLosing: boolean): void;
  /** Holds back what clients send from now on. */
  hold(): void;
  /** Settles when a text is among what is held back. */
  holds(text: string): Promise<unknown>;
  /** Sends what was held back, even if its client has gone. */
  release(): void;
  /** Holds back what the server sends, until `releaseReplies`. */
  holdReplies(): void;
  releaseReplies(): void;
  /** Settles when bytes other than a ping were discarded or held back since the last of these calls. */
  intercepted(): Promise<unknown>;
  close(): void;
};

/** The server sends it at any time. */
const PING = "PING\r\n";

type State = {
  readonly sockets: Set<Socket>;
  isLosing: boolean;
  held: (() => void)[] | undefined;
  heldText: string;
  heldReplies: (() => void)[] | undefined;
  intercepted: number;
};

export async function startLossyProxy(targetPort: number): Promise<LossyProxy> {
  const state: State = {
    sockets: new Set(),
    isLosing: false,
    held: undefined,
    heldText: "",
    heldReplies: undefined,
    intercepted: 0,
  };
  const server = createServer((client) => connectThrough(state, client, targetPort));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    loseReplies: (isLosing) => void Object.assign(state, { isLosing, intercepted: 0 }),
    hold: () => void Object.assign(state, { held: [], heldText: "", intercepted: 0 }),
    holds: (text) => until(`${text} is not held`, () => state.heldText.includes(text)),
    release() {
      for (const send of state.held ?? []) send();
      state.held = undefined;
    },
    holdReplies: () => void Object.assign(state, { heldReplies: [], intercepted: 0 }),
    releaseReplies() {
      for (const send of state.heldReplies ?? []) send();
      state.heldReplies = undefined;
    },
    intercepted: () => until("no bytes to intercept", () => state.intercepted > 0),
    close() {
      server.close();
      for (const socket of state.sockets) socket.destroy();
    },
  };
}

function connectThrough(state: State, client: Socket, targetPort: number): void {
  const upstream = connect(targetPort, "127.0.0.1");
  for (const socket of [client, upstream]) {
    state.sockets.add(socket);
    socket.on("error", () => {}).on("close", () => state.sockets.delete(socket));
  }
  client.on("data", (bytes) => {
    const send = () => void upstream.write(bytes);
    if (!state.held) return send();
    state.held.push(send);
    state.heldText += bytes;
    state.intercepted++;
  });
  upstream.on("data", (bytes) => {
    const send = () => void (client.destroyed || client.write(bytes));
    if (!state.heldReplies && !state.isLosing) return send();
    state.heldReplies?.push(send);
    if (String(bytes) !== PING) state.intercepted++;
  });
  upstream.on("close", () => client.destroy());
  client.on("close", () => {
    if (!state.held) upstream.destroy();
  });
}
