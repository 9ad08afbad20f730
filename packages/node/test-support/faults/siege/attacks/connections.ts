/** Connections that are kept open, or that send as slowly or as much as possible; and live streams. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Attacker } from "../attacker.ts";
import { inTurn, rawGet, rawStream } from "../requests.ts";
import { Accounts, fullSubmission } from "../transactions.ts";

type Held = {
  /** Number of connections that are open at the same time. */
  readonly count: number;
  /** Texts that connections send, in turn. */
  readonly first: () => readonly (string | Uint8Array)[];
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
const CONDITIONS = 50;
/** Never match `TEXT`, at the maximum cost for the engine. */
const PATTERNS = ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "^(.*a){12}x$", "a*a*a*a*a*b"];
const TEXT = `${"a".repeat(200)}!`;

export const hold = ({ count, first, drip = "", addresses, pauseMs = 50, ...is }: Held): Attack => ({
  async run(attacker) {
    const { target, sockets } = attacker;
    const nextText = inTurn(first());
    const nextAddress =
      addresses === undefined ? () => attacker.nextAddress() : inTurn(attacker.nextAddresses(addresses));
    const open = () => {
      const port = is.isPeer ? target.peerPort : target.httpPort;
      const socket = attacker.open(nextText(), { from: nextAddress(), port });
      if (is.isUnread) socket.pause();
      else socket.resume();
    };
    const dripping = attacker.repeat({ pauseMs: DRIP_INTERVAL_MS }, async () => {
      for (const socket of sockets) if (drip !== "" && socket.writable) socket.write(drip);
    });
    await Promise.all([attacker.keepOpen(count, open, { pauseMs }), dripping]);
  },
});

const hostileStreams = hold({
  ...{ count: 100, pauseMs: 200 },
  first() {
    const values = Array.from({ length: CONDITIONS }, (_, index) => PATTERNS[index % PATTERNS.length]);
    const conditions = values.map((value) => ({ key: "vendorField", condition: "regexp", value }));
    const encoded = encodeURIComponent(JSON.stringify(conditions));
    return [rawStream(`?events=transaction.applied&match=any&conditions=${encoded}`)];
  },
});

/** Fills blocks with the text that the conditions match against. */
async function sendTexts(attacker: Attacker): Promise<void> {
  const accounts = new Accounts(attacker);
  await attacker.repeat({ pauseMs: 2_000 }, async () => {
    let nonce = await accounts.nonce();
    const next = () => accounts.transfer(accounts.funded, ++nonce, { vendorField: TEXT });
    await attacker.ask(fullSubmission(next));
  });
}

export const CONNECTIONS: Readonly<Record<string, Attack>> = {
  /** Connections of one address kept open after half a request or a whole one. */
  "held connections": hold({
    ...{ count: HELD_CONNECTIONS, addresses: 1 },
    first: () => ["GET /health/live HTTP/1.1\r\nHost: x\r\n", rawGet("/health/live")],
  }),
  "silent connections": hold({ count: HELD_CONNECTIONS, first: () => [""] }),
  /** Connections that send a header line twice a second. */
  "slow headers": hold({
    ...{ count: DRIP_CONNECTIONS, addresses: 1, drip: "x-a: b\r\n" },
    first: () => ["GET /api/v2/blockchain HTTP/1.1\r\nHost: x\r\n"],
  }),
  /** Connections that send a body of 1 MB byte by byte. */
  "slow bodies": hold({
    ...{ count: DRIP_CONNECTIONS, drip: " " },
    first: () => [
      "POST /api/transactions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
    ],
  }),
  "slow readers": hold({
    // Each also fills 6 MB of system buffers: more connections would measure the TCP memory of the system.
    ...{ count: 100, isUnread: true, pauseMs: 100 },
    // The maximum number of pipelined requests of a connection.
    first: () => [rawGet("/api/openapi.json").repeat(30)],
  }),
  /** Connections that repeatedly write 1 MB of requests at once. */
  "pipelined requests": hold({
    ...{ count: 40, addresses: 40, pauseMs: 200 },
    first: () => [rawGet("/health/live").repeat(25_000)],
  }),
  /** Streams that begin at the first block and that the client does not read. */
  "unread streams": hold({
    ...{ count: 150, isUnread: true, pauseMs: 200 },
    first: () => [rawStream("?events=*&fromHeight=1")],
  }),
  "header floods": {
    async run(attacker) {
      const many = Array.from({ length: 2_000 }, (_, index) => `h${index}: 1\r\n`).join("");
      const texts = [many, `long: ${"x".repeat(100_000)}\r\n`];
      const nextText = inTurn(texts.map((headers) => rawGet("/api/v2/blockchain", headers)));
      await attacker.repeat({ pauseMs: 20 }, async () => {
        for (let index = 0; index < 10; index++) attacker.open(nextText()).resume();
      });
    },
  },
  /** Streams, with and without a trailing slash, whose clients disconnect at once. */
  "abandoned streams": {
    async run(attacker) {
      const nextQuery = inTurn(["/?events=block.*", "?events=block.*&fromHeight=1"]);
      let opened = 0;
      await attacker.repeat({ atOnce: 4, pauseMs: 10 }, async () => {
        const socket = attacker.open(rawStream(nextQuery()));
        await sleep(opened++ % 20);
        socket.destroy();
      });
    },
  },
  "hostile conditions": {
    run: async (attacker) => void (await Promise.all([hostileStreams.run(attacker), sendTexts(attacker)])),
  },
};
