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

type Pair = { readonly client: Socket; readonly server: Socket };
type State = { targetPort: number; state: LinkState; readonly pairs: Set<Pair> };

export type Link = Awaited<ReturnType<typeof startLink>>;

export async function startLink(to: LinkTarget, targetPort: number) {
  const link: State = { targetPort, state: "open", pairs: new Set() };
  const server = createServer((client) => connectThrough(link, client)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    to,
    port: (server.address() as AddressInfo).port,
    /** Bytes that were held back are sent, even if the other side has gone; connections that lost bytes are closed. */
    become: (state: LinkState) => become(link, state),
    /** Sends new connections to the server at another port, and closes the open ones; nothing if it is the same port. */
    route(port: number) {
      if (port === link.targetPort) return;
      link.targetPort = port;
      closeAll(link);
    },
    async close() {
      server.close();
      closeAll(link);
      await once(server, "close");
    },
  };
}

function connectThrough(link: State, client: Socket): void {
  client.on("error", () => {});
  if (link.state === "cut") {
    client.destroy();
    return;
  }
  const server = connect(link.targetPort, "127.0.0.1").on("error", () => {});
  const pair = { client, server };
  link.pairs.add(pair);
  pass(link, client, server, () => true);
  pass(link, server, client, () => link.state !== "mute");
  client.on("close", () => link.pairs.delete(pair));
  if (link.state === "stalled") pauseBoth(pair);
}

/** Passes bytes, and the end, from one side to the other. */
function pass(link: State, from: Socket, to: Socket, isPassed: () => boolean): void {
  const later = (work: () => void) => {
    if (link.state === "slow") setTimeout(work, DELAY_MS);
    else work();
  };
  from.setNoDelay(true);
  from.on("data", (bytes) => {
    if (isPassed()) later(() => to.writable && to.write(bytes));
  });
  from.on("close", () => later(() => to.end()));
}

function pauseBoth({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

function become(link: State, state: LinkState): void {
  const before = link.state;
  link.state = state;
  if (state === "cut" || before === "mute") closeAll(link);
  for (const pair of link.pairs) {
    if (state === "stalled") pauseBoth(pair);
    else for (const socket of [pair.client, pair.server]) socket.resume();
  }
}

function closeAll({ pairs }: State): void {
  for (const { client, server } of pairs) {
    client.destroy();
    server.destroy();
  }
}
