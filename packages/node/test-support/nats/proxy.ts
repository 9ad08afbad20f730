/** A proxy in front of a server that loses or holds back bytes, for tests. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

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
  close(): void;
};

export async function startLossyProxy(targetPort: number): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let isLosing = false;
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
      if (held) held.push(send);
      else send();
    });
    upstream.on("data", (bytes) => {
      const send = () => void (client.destroyed || client.write(bytes));
      if (heldReplies) heldReplies.push(send);
      else if (!isLosing) send();
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
    },
    hold() {
      held = [];
    },
    release() {
      for (const send of held ?? []) send();
      held = undefined;
    },
    holdReplies() {
      heldReplies = [];
    },
    releaseReplies() {
      for (const send of heldReplies ?? []) send();
      heldReplies = undefined;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
