/** A proxy in front of a server that loses or holds back bytes, for tests. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { until } from "../process/until.ts";

export type LossyProxy = {
  readonly port: number;
  /** Discards what the server sends from now on, if `isLosing`. */
  loseReplies(isLosing: boolean): void;
  /** Holds back what clients send from now on. */
  hold(): void;
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

export async function startLossyProxy(targetPort: number): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let isLosing = false;
  let intercepted = 0;
  let held: (() => void)[] | undefined;
  let heldReplies: (() => void)[] | undefined;

  const server = createServer((client) => {
    const upstream = connect(targetPort, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    client.on("data", (bytes) => {
      const send = () => void upstream.write(bytes);
      if (!held) return send();
      held.push(send);
      intercepted++;
    });
    upstream.on("data", (bytes) => {
      const send = () => void (client.destroyed || client.write(bytes));
      if (!heldReplies && !isLosing) return send();
      heldReplies?.push(send);
      if (String(bytes) !== PING) intercepted++;
    });
    upstream.on("close", () => client.destroy());
    client.on("close", () => {
      if (!held) upstream.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    loseReplies(isLosingNow) {
      isLosing = isLosingNow;
      intercepted = 0;
    },
    hold() {
      held = [];
      intercepted = 0;
    },
    release() {
      for (const send of held ?? []) send();
      held = undefined;
    },
    holdReplies() {
      heldReplies = [];
      intercepted = 0;
    },
    releaseReplies() {
      for (const send of heldReplies ?? []) send();
      heldReplies = undefined;
    },
    intercepted: () => until("no bytes to intercept", () => intercepted > 0),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
