/** Connections that are kept open, or that send as slowly or as much as possible; and live streams. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../../src/platform/present.ts";
import type { Attack, Attacker } from "../attacker.ts";
import type { Target } from "../node.ts";
import { inTurn, rawGet } from "../requests.ts";
import { openAccounts, submission, TRANSACTIONS_PER_REQUEST, transferText } from "../transactions.ts";

export type Held = {
  /** Number of connections that are open at the same time. */
  readonly count: number;
  /** Texts that connections send first, in turn. */
  readonly first: (target: Target) => readonly (string | Uint8Array)[];
  /** Text that each connection sends from time to time. */
  readonly drip?: string;
  /** Number of addresses that open connections, in turn; absent: each connection has another one. */
  readonly addresses?: number;
  /** The client does not read. */
  readonly isUnread?: boolean;
  readonly isPeer?: boolean;
  readonly pauseMs?: number;
};

const HELD_CONNECTIONS = 2_000;
const DRIP_CONNECTIONS = 500;
const DRIP_INTERVAL_MS = 500;
/** Each also fills 6 MB of system buffers: more connections would measure the TCP memory of the system. */
const UNREAD_CONNECTIONS = 100;
/** Maximum number of pipelined requests of a connection. */
const RESPONSES = 30;
const STREAMS = 100;
const CONDITIONS = 50;
/** Never match `TEXT`, at the maximum cost for the engine. */
const PATTERNS = ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "^(.*a){12}x$", "a*a*a*a*a*b"];
const TEXT = `${"a".repeat(200)}!`;

/** Keeps connections open. */
export const hold =
  ({
    count,
    first,
    drip = "",
    addresses,
    isUnread = false,
    isPeer = false,
    pauseMs = 50,
  }: Held): Attack["run"] =>
  async (attacker) => {
    const { target, sockets } = attacker;
    const nextText = inTurn(first(target));
    const sources = addresses === undefined ? [] : attacker.nextAddresses(addresses);
    const opening = attacker.keepOpen(
      count,
      (number) => {
        const socket = attacker.open(nextText(), {
          from: sources[number % sources.length] ?? attacker.nextAddress(),
          port: isPeer ? target.peerPort : target.httpPort,
        });
        if (isUnread) socket.pause();
        else socket.resume();
      },
      { pauseMs },
    );
    const dripping = attacker.repeat({ pauseMs: DRIP_INTERVAL_MS }, async () => {
      for (const socket of sockets) if (drip !== "" && socket.writable) socket.write(drip);
    });
    await Promise.all([opening, dripping]);
  };

const stream = (query: string, token: string): string =>
  rawGet(`/api/v2/events${query}`, `Authorization: ${token}\r\n`);

/** Fills blocks with the text that the conditions match against. */
async function sendTexts(attacker: Attacker): Promise<void> {
  const accounts = openAccounts(attacker);
  await attacker.repeat({ pauseMs: 2_000 }, async () => {
    const nonce = await accounts.nonce();
    const texts = Array.from({ length: TRANSACTIONS_PER_REQUEST }, (_, index) =>
      transferText(accounts, accounts.funded, { nonce: nonce + BigInt(index + 1), vendorField: TEXT }),
    );
    await attacker.ask(submission(texts));
  });
}

export const CONNECTIONS: readonly Attack[] = [
  {
    name: "held connections",
    description: `${HELD_CONNECTIONS} connections of one address kept open after half a request or a whole one`,
    run: hold({
      count: HELD_CONNECTIONS,
      addresses: 1,
      first: () => ["GET /health/live HTTP/1.1\r\nHost: x\r\n", rawGet("/health/live")],
    }),
  },
  {
    name: "silent connections",
    description: `${HELD_CONNECTIONS} connections that send nothing, each from its own address`,
    run: hold({ count: HELD_CONNECTIONS, first: () => [""] }),
  },
  {
    name: "slow headers",
    description: `${DRIP_CONNECTIONS} connections that send a header line twice a second`,
    run: hold({
      count: DRIP_CONNECTIONS,
      addresses: 1,
      first: () => ["GET /api/v2/blockchain HTTP/1.1\r\nHost: x\r\n"],
      drip: "x-a: b\r\n",
    }),
  },
  {
    name: "slow bodies",
    description: `${DRIP_CONNECTIONS} connections that send a body of 1 MB byte by byte`,
    run: hold({
      count: DRIP_CONNECTIONS,
      first: () => [
        "POST /api/transactions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
      ],
      drip: " ",
    }),
  },
  {
    name: "slow readers",
    description: `${UNREAD_CONNECTIONS} connections that request ${RESPONSES} large responses each and read nothing`,
    run: hold({
      count: UNREAD_CONNECTIONS,
      first: () => [rawGet("/api/openapi.json").repeat(RESPONSES)],
      isUnread: true,
      pauseMs: 100,
    }),
  },
  {
    name: "pipelined requests",
    description: "40 connections from 40 addresses that repeatedly write 1 MB of requests at once",
    run: hold({
      count: 40,
      addresses: 40,
      first: () => [rawGet("/health/live").repeat(25_000)],
      pauseMs: 200,
    }),
  },
  {
    name: "unread streams",
    description: "streams that begin at the first block and that the client does not read",
    run: hold({
      count: 150,
      first: ({ token }) => [stream("?events=*&fromHeight=1", token)],
      isUnread: true,
      pauseMs: 200,
    }),
  },
  {
    name: "header floods",
    description: "requests with 2,000 headers, and with headers of 100 kB",
    async run(attacker) {
      const many = Array.from({ length: 2_000 }, (_, index) => `h${index}: 1\r\n`).join("");
      const texts = [many, `long: ${"x".repeat(100_000)}\r\n`].map((headers) =>
        rawGet("/api/v2/blockchain", headers),
      );
      await attacker.repeat({ pauseMs: 20 }, async () => {
        for (let index = 0; index < 10; index++) attacker.open(present(texts[index % 2])).resume();
      });
    },
  },
  {
    name: "abandoned streams",
    description: "streams, with and without a trailing slash, whose clients disconnect at once",
    async run(attacker) {
      const nextQuery = inTurn(["/?events=block.*", "?events=block.*&fromHeight=1"]);
      let opened = 0;
      await attacker.repeat({ atOnce: 4, pauseMs: 10 }, async () => {
        const socket = attacker.open(stream(nextQuery(), attacker.target.token));
        await sleep(opened++ % 20);
        socket.destroy();
      });
    },
  },
  {
    name: "hostile conditions",
    description: `${STREAMS} streams with ${CONDITIONS} backtracking regular expressions each`,
    async run(attacker) {
      const values = Array.from({ length: CONDITIONS }, (_, index) => PATTERNS[index % PATTERNS.length]);
      const conditions = values.map((value) => ({ key: "vendorField", condition: "regexp", value }));
      const encoded = encodeURIComponent(JSON.stringify(conditions));
      const query = `?events=transaction.applied&match=any&conditions=${encoded}`;
      const first = ({ token }: Target) => [stream(query, token)];
      await Promise.all([hold({ count: STREAMS, first, pauseMs: 200 })(attacker), sendTexts(attacker)]);
    },
  },
];
