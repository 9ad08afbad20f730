/** A proxy in front of a server, with the faults of a connection between two machines. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * `cut`: connections are closed, and new ones are refused. `stalled`: bytes are held back in both directions. `slow`: bytes arrive
 * later. `mute`: the server receives everything, and the client nothing.
 */
export type LinkState = "open" | "cut" | "stalled" | "slow" | "mute";

export type LinkTarget = "node" | "primary" | "replica" | "pooler";

/** Delay of a slow link, in each direction. */
const DELAY_MS = 150;

type Pair = readonly [client: Socket, server: Socket];

export class Link {
  readonly to: LinkTarget;
  readonly #server = createServer((client) => this.#connect(client));
  readonly #pairs = new Set<Pair>();
  #targetPort: number;
  #state: LinkState = "open";

  constructor(to: LinkTarget, targetPort: number) {
    this.to = to;
    this.#targetPort = targetPort;
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes that were held back are sent, even if the other side has gone; connections that lost bytes are closed. */
  become(state: LinkState): void {
    const before = this.#state;
    this.#state = state;
    if (state === "cut" || before === "mute") this.#closeAll();
    for (const pair of this.#pairs) for (const socket of pair) this.#hold(socket);
  }

  /** Sends new connections to the server at another port, and closes the open ones; nothing if it is the same port. */
  route(port: number): void {
    if (port === this.#targetPort) return;
    this.#targetPort = port;
    this.#closeAll();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#closeAll();
    await once(this.#server, "close");
  }

  #connect(client: Socket): void {
    client.on("error", () => {});
    if (this.#state === "cut") {
      client.destroy();
      return;
    }
    const server = connect(this.#targetPort, "127.0.0.1").on("error", () => {});
    const pair: Pair = [client, server];
    this.#pairs.add(pair);
    this.#pass(client, server, () => true);
    this.#pass(server, client, () => this.#state !== "mute");
    client.on("close", () => this.#pairs.delete(pair));
    if (this.#state === "stalled") for (const socket of pair) this.#hold(socket);
  }

  #pass(from: Socket, to: Socket, isPassed: () => boolean): void {
    const later = (work: () => void) => {
      if (this.#state === "slow") setTimeout(work, DELAY_MS);
      else work();
    };
    from.setNoDelay(true);
    from.on("data", (bytes) => {
      if (isPassed()) later(() => to.writable && to.write(bytes));
    });
    from.on("close", () => later(() => to.end()));
  }

  #hold(socket: Socket): void {
    if (this.#state === "stalled") socket.pause();
    else socket.resume();
  }

  #closeAll(): void {
    for (const socket of [...this.#pairs].flat()) socket.destroy();
  }
}
