/** Live streams: expensive conditions, readers that disconnect, readers that do not read. */
import { setTimeout as sleep } from "node:timers/promises";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { createConnections, repeat, send } from "../requests.ts";
import { openAccounts, submissionText, transfer } from "../sender.ts";
import type { Target } from "../target.ts";

const STREAMS = 100;
const CONDITIONS = 50;
const STREAMS_PER_ADDRESS = 10;
/** Never matches, at the maximum cost for the engine. */
const PATTERNS = ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "^(.*a){12}x$", "a*a*a*a*a*b"];
const TEXT = `${"a".repeat(200)}!`;

const conditions = JSON.stringify(
  Array.from({ length: CONDITIONS }, (_, index) => ({
    key: "vendorField",
    condition: "regexp",
    value: PATTERNS[index % PATTERNS.length],
  })),
);

const get = (path: string, token: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\n\r\n`;

/** Blocks full of the text that the conditions match against. */
async function sendTexts(target: Target, signal: AbortSignal): Promise<void> {
  const accounts = openAccounts(target);
  const silent = { offered() {}, refused() {} };
  const addresses = clientAddresses(35);
  await repeat({ atOnce: 1, pauseMs: 2_000 }, signal, async () => {
    const nonce = await accounts.nextNonce();
    const transactions = Array.from({ length: 40 }, (_, index) =>
      transfer(accounts, { sender: accounts.funded, nonce: nonce + BigInt(index), vendorField: TEXT }),
    );
    await send(target, silent, {
      path: "/api/v2/transactions",
      from: addresses.next(),
      body: submissionText(transactions),
    });
  });
}

export const hostileConditions: Attack = {
  name: "hostile conditions",
  description: `${STREAMS} streams with ${CONDITIONS} backtracking regular expressions each`,
  async run(target, tally, signal) {
    const connections = createConnections(tally);
    const query = `events=transaction.applied&match=any&conditions=${encodeURIComponent(conditions)}`;
    const request = get(`/api/v2/events?${query}`, target.token);
    const sending = sendTexts(target, signal);
    let opened = 0;
    await repeat({ atOnce: 1, pauseMs: 200 }, signal, async () => {
      for (let index = connections.count(); index < STREAMS; index++) {
        const from = `127.34.0.${1 + (Math.floor(opened++ / STREAMS_PER_ADDRESS) % 200)}`;
        connections.open(target.host, target.httpPort, from, request).resume();
      }
    });
    connections.closeAll();
    await sending;
  },
};

export const abandonedStreams: Attack = {
  name: "abandoned streams",
  description: "streams, with and without a trailing slash, whose clients disconnect at once",
  async run({ host, httpPort, token }, tally, signal) {
    const addresses = clientAddresses(36);
    const connections = createConnections(tally);
    const requests = ["/api/v2/events/?events=block.*", "/api/v2/events?events=block.*&fromHeight=1"].map(
      (path) => get(path, token),
    );
    let opened = 0;
    await repeat({ atOnce: 4, pauseMs: 10 }, signal, async () => {
      const socket = connections.open(host, httpPort, addresses.next(), requests[opened % 2]);
      await sleep(opened++ % 20);
      socket.destroy();
    });
    connections.closeAll();
  },
};

export const unreadStreams: Attack = {
  name: "unread streams",
  description: "streams that begin at the first block and that the client does not read",
  async run({ host, httpPort, token }, tally, signal) {
    const connections = createConnections(tally);
    const request = get("/api/v2/events?events=*&fromHeight=1", token);
    let opened = 0;
    await repeat({ atOnce: 1, pauseMs: 200 }, signal, async () => {
      for (let index = connections.count(); index < 150; index++) {
        const from = `127.37.0.${1 + (Math.floor(opened++ / STREAMS_PER_ADDRESS) % 200)}`;
        connections.open(host, httpPort, from, request).pause();
      }
    });
    connections.closeAll();
  },
};
