/** Clients of server-sent events that others wrote, through a proxy that cuts their connections. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { fetchEventSource } from "@microsoft/fetch-event-source";
import { EventSource } from "eventsource";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openStreams, peerAdded, TOKEN } from "../../test-support/stream/support.ts";

// The second one is for browsers.
const BROWSER = { window: globalThis, document: { addEventListener() {}, removeEventListener() {} } };
beforeAll(() => void Object.assign(globalThis, BROWSER));
afterAll(() => {
  for (const name of Object.keys(BROWSER)) Reflect.deleteProperty(globalThis, name);
});

const AUTHORIZED = { authorization: TOKEN };

async function startProxy(port: number) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections++;
    const node = connect(port, "127.0.0.1");
    for (const socket of [client, node]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    client.pipe(node).pipe(client);
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    connections: () => connections,
  };
}

/** Each calls `onId` with the ids of events and `onPosition` for positions without an event, and returns how to end it. */
type Follow = (url: string, onId: (id: string) => void, onPosition?: () => void) => () => void;
const CLIENTS: Readonly<Record<string, Follow>> = {
  eventsource(url, onId, onPosition = () => {}) {
    const source = new EventSource(url, {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...AUTHORIZED } }),
    });
    source.addEventListener("peer.added", ({ data }) => onId(JSON.parse(data).id));
    source.addEventListener("stream.position", onPosition);
    return () => source.close();
  },
  "@microsoft/fetch-event-source"(url, onId, onPosition = () => {}) {
    const ended = new AbortController();
    void fetchEventSource(url, {
      headers: AUTHORIZED,
      openWhenHidden: true,
      signal: ended.signal,
      onmessage({ data }) {
        const { event, id } = JSON.parse(data);
        if (event === "peer.added") onId(id);
        else onPosition();
      },
    });
    return () => ended.abort();
  },
};

test.each(Object.entries(CLIENTS))(
  "%s loses no event when its connection is cut before the first one",
  async (_, follow) => {
    const { port, emit, stream } = await openStreams({ options: { heartbeatMs: 50 } });
    const proxy = await startProxy(port);
    const ids: string[] = [];
    const end = follow(`${proxy.url}/api/v2/events?events=peer.added`, (id) => ids.push(id));
    onTestFinished(end);
    await expect.poll(() => stream.figures().open).toBe(1);
    emit(peerAdded("a"));
    await expect.poll(() => ids).toEqual(["peer.added:a"]);
    // After an event that the client does not receive, only the position has the id.
    emit({ id: "peer.removed:x", name: "peer.removed", data: { ip: "x" } });
    for (const name of ["b", "c"]) {
      const before = proxy.connections();
      proxy.cut();
      await expect.poll(() => stream.figures().open).toBe(0);
      emit(peerAdded(name));
      await expect.poll(() => ids.at(-1)).toBe(`peer.added:${name}`);
      expect(proxy.connections()).toBe(before + 1);
    }
    expect(ids).toEqual(["peer.added:a", "peer.added:b", "peer.added:c"]);
  },
);

test.each(Object.entries(CLIENTS))(
  "%s begins at its first connection, although that one brought no event",
  async (_, follow) => {
    const { port, emit, stream } = await openStreams();
    const proxy = await startProxy(port);
    const ids: string[] = [];
    let positions = 0;
    const url = `${proxy.url}/api/v2/events?events=peer.added`;
    onTestFinished(
      follow(
        url,
        (id) => ids.push(id),
        () => void positions++,
      ),
    );
    // The node may have opened the stream before the client knows it.
    await expect.poll(() => positions).toBe(1);
    proxy.cut();
    await expect.poll(() => stream.figures().open).toBe(0);
    emit(peerAdded("a"));
    await expect.poll(() => ids).toEqual(["peer.added:a"]);
  },
);
