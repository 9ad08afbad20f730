/** Clients of the peer port: sessions, frames, long messages and transactions. */
import { randomBytes } from "node:crypto";
import { writeCall } from "../../../../src/peers/wire/client-messages.ts";
import type { Attack } from "../attacker.ts";
import { registerWallet } from "../transactions.ts";
import { hold } from "./connections.ts";
import { mixedSubmissions } from "./transactions.ts";

const UPGRADE =
  "GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
  "Connection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n";

/** Text frame with a zero mask, which can announce more bytes than it contains. */
function frame(text: string, announcedBytes = text.length): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(announcedBytes), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}

const join = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));

/** Upgrade and handshake in one message. */
const HELLO = join(UPGRADE, frame('{"event":"#handshake","data":{"authToken":null},"cid":1}'));

const callOf = (event: string, data: string, cid = 2): Buffer =>
  frame(`{"event":"p2p.peer.${event}","data":{"data":${data},"headers":{}},"cid":${cid}}`);

function hostileMessages(): readonly Buffer[] {
  const deep = `{"event":"p2p.peer.getBlocks","data":${"[".repeat(100_000)}${"]".repeat(100_000)},"cid":2}`;
  return [
    join(HELLO, frame("x".repeat(200_000), 20_000_000)),
    join(HELLO, randomBytes(10_000)),
    join(HELLO, ...Array.from({ length: 500 }, (_, index) => callOf("getStatus", "{}", index + 2))),
    join(HELLO, frame(deep)),
  ];
}

/** Just below the longest message of an address that is not a peer, and the longest one of a block. */
const LENGTHS = [4_150_000, 20_700_000];

/** Returns messages that each cost as much as possible to read. In `\nA\nA...`, escapes alternate with text. */
function longMessages(length: number): readonly Buffer[] {
  const filled = (text: string) => text.repeat(length / text.length);
  const block = (base64: string) => `{"block":{"base64":true,"data":"${base64}"}}`;
  return [
    join(UPGRADE, frame(`{"event":"#handshake","data":{"x":"${filled("\\nA")}"},"cid":1}`)),
    join(HELLO, callOf("getStatus", `{"x":"${filled("\\nA")}"}`)),
    join(HELLO, callOf("postBlock", block(filled("\\nA")))),
    join(HELLO, callOf("postBlock", block(filled("AAAA")))),
    join(HELLO, callOf("postBlock", `{${filled(" ")}}`)),
    join(HELLO, callOf("postTransactions", `{"transactions":[${filled('"\\n",')}0]}`)),
  ];
}

const PEERS = 12;
const PER_SECOND = 90;
/** Unsent bytes above which a peer pauses, because the node does not read it. */
const MAX_UNSENT_BYTES = 4_000_000;
/** A message without transactions, and the position to insert them. */
const EMPTY = writeCall("p2p.peer.postTransactions", { transactions: [] });
const PLACE = '{"transactions":[]}';

export const PEER_ATTACKS: Readonly<Record<string, Attack>> = {
  /** Sessions of as many addresses in a few networks, half of them without a handshake. */
  "peer sessions": hold({ count: 3_000, first: () => [HELLO, UPGRADE], isPeer: true }),
  /** Frames of 20 MB that never end, random frames, calls faster than any limit. */
  "peer messages": hold({ count: 60, first: hostileMessages, isPeer: true }),
  /** Messages of 4 and 20 MB before and after the handshake: strings of escapes, bytes, blanks, many values. */
  "long peer messages": hold({
    ...{ count: 4, pauseMs: 100, isPeer: true },
    first: () => LENGTHS.flatMap(longMessages),
  }),
  "peer transactions": {
    prepare: registerWallet,
    async run(attacker) {
      const next = mixedSubmissions(attacker);
      const { peerPort: port } = attacker.target;
      // In separate subnets.
      const opening = attacker.keepOpen(PEERS, (number) =>
        attacker.open(HELLO, { port, from: attacker.address(number % PEERS, 1) }).resume(),
      );
      const posting = attacker.repeat({ pauseMs: 1_000 / PER_SECOND }, async () => {
        for (const socket of attacker.sockets) {
          if (socket.connecting || socket.writableLength > MAX_UNSENT_BYTES) continue;
          attacker.offered();
          socket.write(frame(EMPTY.replace(PLACE, next().body)));
        }
      });
      await Promise.all([opening, posting]);
    },
  },
};
