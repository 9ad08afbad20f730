/** Connections that are kept open, or that send as slowly or as much as possible. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../packages/node/src/platform/present.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { createConnections, repeat, send, untilAborted } from "../requests.ts";

const HELD_CONNECTIONS = 2_000;
/** Maximum number of pipelined requests of a connection. */
const RESPONSES = 30;
/** Each also fills 6 MB of system buffers: more connections would measure the TCP memory of the system. */
const UNREAD_CONNECTIONS = 100;
const DRIP_CONNECTIONS = 500;
const DRIP_INTERVAL_MS = 500;

/** Keeps connections open, reopens closed ones, and writes `drip` to each from time to time. */
function holdConnections(count: number, first: string, drip: string, network?: number): Attack["run"] {
  return async ({ host, httpPort }, tally, signal) => {
    const addresses = network === undefined ? undefined : clientAddresses(network);
    const connections = createConnections(tally);
    while (!signal.aborted) {
      // At most a few hundred at a time: the system's queue of new connections is not the target.
      const missing = Math.min(count - connections.count(), 250);
      for (let index = 0; index < missing; index++) {
        connections.open(host, httpPort, addresses?.next() ?? "127.0.0.1", first);
      }
      if (drip !== "") connections.each((socket) => void (socket.writable && socket.write(drip)));
      await sleep(missing > 100 ? 50 : DRIP_INTERVAL_MS);
    }
    connections.closeAll();
  };
}

export const halfOpenConnections: Attack = {
  name: "half-open connections",
  description: `${HELD_CONNECTIONS} connections of one address that send half a request`,
  run: holdConnections(HELD_CONNECTIONS, "GET /health/live HTTP/1.1\r\nHost: x\r\n", ""),
};

export const silentConnections: Attack = {
  name: "silent connections",
  description: `${HELD_CONNECTIONS} connections that send nothing, each from its own address`,
  run: holdConnections(HELD_CONNECTIONS, "", "", 22),
};

export const idleConnections: Attack = {
  name: "idle connections",
  description: `${HELD_CONNECTIONS} connections of one address kept open after a request`,
  run: holdConnections(HELD_CONNECTIONS, "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n", ""),
};

export const slowHeaders: Attack = {
  name: "slow headers",
  description: `${DRIP_CONNECTIONS} connections that send a header line twice a second`,
  run: holdConnections(DRIP_CONNECTIONS, "GET /api/v2/blockchain HTTP/1.1\r\nHost: x\r\n", "x-a: b\r\n"),
};

export const slowBodies: Attack = {
  name: "slow bodies",
  description: `${DRIP_CONNECTIONS} connections that send a body of 1 MB byte by byte`,
  run: holdConnections(
    DRIP_CONNECTIONS,
    "POST /api/transactions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
    " ",
    23,
  ),
};

export const slowReaders: Attack = {
  name: "slow readers",
  description: `${UNREAD_CONNECTIONS} connections that request ${RESPONSES} large responses each and read nothing`,
  async run({ host, httpPort }, tally, signal) {
    const addresses = clientAddresses(24);
    const connections = createConnections(tally);
    const asking = "GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(RESPONSES);
    while (!signal.aborted) {
      const missing = Math.min(UNREAD_CONNECTIONS - connections.count(), 50);
      for (let index = 0; index < missing; index++) {
        connections.open(host, httpPort, addresses.next(), asking).pause();
      }
      await sleep(100);
    }
    connections.closeAll();
  },
};

export const pipelinedRequests: Attack = {
  name: "pipelined requests",
  description: "40 connections from 40 addresses that repeatedly write 1 MB of requests at once",
  async run({ host, httpPort }, tally, signal) {
    let opened = 0;
    const connections = createConnections(tally);
    const text = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n".repeat(25_000);
    while (!signal.aborted) {
      for (let index = connections.count(); index < 40; index++) {
        connections.open(host, httpPort, `127.25.0.${1 + (opened++ % 40)}`, text).resume();
      }
      await sleep(200);
    }
    connections.closeAll();
  },
};

export const headerFloods: Attack = {
  name: "header floods",
  description: "requests with 2,000 headers, and with headers of 100 kB",
  async run({ host, httpPort }, tally, signal) {
    const addresses = clientAddresses(26);
    const connections = createConnections(tally);
    const many = Array.from({ length: 2_000 }, (_, index) => `h${index}: 1\r\n`).join("");
    const texts = [many, `long: ${"x".repeat(100_000)}\r\n`].map(
      (headers) => `GET /api/v2/blockchain HTTP/1.1\r\nHost: x\r\n${headers}\r\n`,
    );
    let sent = 0;
    await repeat({ atOnce: 1, pauseMs: 20 }, signal, async () => {
      for (let index = 0; index < 10; index++) {
        connections.open(host, httpPort, addresses.next(), present(texts[sent++ % 2])).resume();
      }
    });
    connections.closeAll();
  },
};

export const methodFloods: Attack = {
  name: "HEAD and OPTIONS",
  description: "HEAD, OPTIONS and unknown methods as fast as the node responds",
  async run(target, tally, signal) {
    const addresses = clientAddresses(27);
    const methods = ["HEAD", "OPTIONS", "PATCH", "PROPFIND"];
    let sent = 0;
    await repeat({ atOnce: 16, pauseMs: 5 }, signal, () =>
      send(target, tally, {
        method: present(methods[sent++ % methods.length]),
        path: "/api/v2/transactions",
        from: addresses.next(),
      }),
    );
  },
};

export const manyAddresses: Attack = {
  name: "20,000 addresses",
  description: "one request each of up to 20,000 addresses",
  async run(target, tally, signal) {
    const addresses = clientAddresses(28);
    let left = 20_000;
    await repeat({ atOnce: 16, pauseMs: 2 }, signal, async () => {
      if (left-- <= 0) return untilAborted(signal);
      await send(target, tally, { path: "/api/v2/blockchain", from: addresses.next() });
    });
  },
};
