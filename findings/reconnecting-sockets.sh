#!/usr/bin/env bash
# WebSocket clients that reconnect: what is sent in the gap, and a server that ends the connection normally
#
# One would guess: a client that reconnects by itself keeps what is sent in the gap, or `send` throws; and it does not come back after the
# server has closed with 1000, which means that the purpose of the connection is fulfilled.
# What happens: robust-websocket 1.0.0, @gamestdio/websocket 0.3.2 and websocket-heartbeat-js 1.1.3 lose what is sent in the gap, and `send`
# returns as if nothing were wrong; `notify` of rpc-websockets 10.0.1 rejects, the other four keep it. After 1000, all but
# robust-websocket and rpc-websockets connect again, and after 4000 only @gamestdio/websocket does not.
# Whom it hurts: those who send orders or acknowledgements over such a socket, and servers that end connections of clients on purpose:
# these return at once. Give each message an id, let the server acknowledge it, and agree on a message that means "do not return".
# Versions: see below; found on 2026-11-29 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts --legacy-peer-deps ws@8.23.0 reconnecting-websocket@4.4.0 partysocket@1.3.0 sturdy-websocket@0.2.1 \
  websocket-ts@2.3.0 robust-websocket@1.0.0 @gamestdio/websocket@0.3.2 rpc-websockets@10.0.1 websocket-heartbeat-js@1.1.3
cat > finding.mjs <<'JS'
import { once } from "node:events";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const load = createRequire(import.meta.url);
const { WebSocket, WebSocketServer } = load("ws");
/** Called when a socket of a client was closed, and the client knows it. */
let onClosed = () => {};
class Watched extends WebSocket {
  constructor(...values) {
    super(...values);
    const notify = onClosed;
    this.on("close", () => setImmediate(notify));
  }
}
// Some packages are made for a browser.
globalThis.WebSocket = Watched;
globalThis.window ??= globalThis;
globalThis.navigator ??= { onLine: true };
globalThis.addEventListener ??= () => {};
globalThis.removeEventListener ??= () => {};
globalThis.CustomEvent ??= class {};
const classOf = (name) => {
  const loaded = load(name);
  return loaded.default?.default ?? loaded.default ?? loaded;
};
const soon = { WebSocket: Watched, minReconnectionDelay: 100, maxReconnectionDelay: 200 };

/** Each connects to a URL, and reconnects within a second. */
const CLIENTS = {
  "reconnecting-websocket 4.4.0": (url) => new (classOf("reconnecting-websocket"))(url, [], soon),
  "partysocket 1.3.0": async (url) => new (await import("partysocket")).WebSocket(url, [], soon),
  "sturdy-websocket 0.2.1": (url) => new (classOf("sturdy-websocket"))(url, { wsConstructor: Watched, minReconnectDelay: 100, maxReconnectDelay: 200 }),
  "websocket-ts 2.3.0": (url) => {
    const { ArrayQueue, ConstantBackoff, WebsocketBuilder } = load("websocket-ts");
    return new WebsocketBuilder(url).withBackoff(new ConstantBackoff(100)).withBuffer(new ArrayQueue()).build();
  },
  "robust-websocket 1.0.0": (url) => new (classOf("robust-websocket"))(url),
  "@gamestdio/websocket 0.3.2": (url) => new (classOf("@gamestdio/websocket"))(url, [], { backoff: "fibonacci" }),
  "rpc-websockets 10.0.1": (url) => {
    const client = new (load("rpc-websockets").Client)(url, { reconnect_interval: 100, max_reconnects: 0 });
    const notify = onClosed;
    client.on("close", () => setImmediate(notify));
    return { send: (text) => client.notify(text), close: () => client.close() };
  },
  "websocket-heartbeat-js 1.1.3": (url) => new (classOf("websocket-heartbeat-js"))({ url, reconnectTimeout: 100 }),
};

/** Returns whether the client connects again, and what arrives, if the server closes the first connection with a code. */
async function seenWith(connect, code) {
  let connections = 0;
  const closed = new Promise((resolve) => (onClosed = resolve));
  // The second connection takes a while, so that the gap is long enough.
  const verifyClient = (_, done) => setTimeout(() => done(true), connections === 0 ? 0 : 500);
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", verifyClient });
  await once(server, "listening");
  const arrived = [];
  server.on("connection", (socket) => {
    connections++;
    socket.on("message", (bytes) => {
      const text = bytes.toString();
      const name = text.startsWith("{") ? JSON.parse(text).method : text;
      if (/^[abz]$/.test(name)) arrived.push(name);
      if (name === "a") socket.close(code);
    });
  });
  const client = await connect(`ws://127.0.0.1:${server.address().port}`);
  client.addEventListener?.("error", () => {});
  while (connections === 0) await sleep(20);
  await sleep(200);
  await client.send("a");
  await closed;
  let threw = "";
  try {
    await client.send("b");
  } catch {
    threw = ", an error";
  }
  await sleep(3_000);
  try {
    await client.send("z");
  } catch {}
  await sleep(300);
  client.close();
  for (const socket of server.clients) socket.terminate();
  server.close();
  return `${connections === 1 ? "stays away" : "returns"}, ${arrived.join("")}${threw}`;
}

console.log(`Node.js ${process.version}; "b" is sent in the gap`);
const seen = [];
for (const [name, connect] of Object.entries(CLIENTS)) {
  const codes = [];
  for (const code of [1000, 4000]) codes.push(`${code}: ${await seenWith(connect, code)}`);
  seen.push(`${name.padEnd(32)}${codes.join("; ")}`);
}
console.log(seen.join("\n"));
const expected = `reconnecting-websocket 4.4.0    1000: returns, abz; 4000: returns, abz
partysocket 1.3.0               1000: returns, abz; 4000: returns, abz
sturdy-websocket 0.2.1          1000: returns, abz; 4000: returns, abz
websocket-ts 2.3.0              1000: returns, abz; 4000: returns, abz
robust-websocket 1.0.0          1000: stays away, a; 4000: returns, az
@gamestdio/websocket 0.3.2      1000: returns, az; 4000: stays away, a
rpc-websockets 10.0.1           1000: stays away, a, an error; 4000: returns, az, an error
websocket-heartbeat-js 1.1.3    1000: returns, az; 4000: returns, az`;
if (seen.join("\n") !== expected) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
process.exit();
JS
node finding.mjs
