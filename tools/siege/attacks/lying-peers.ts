/** Peers that pass the verification, and send the most expensive replies instead of blocks. */
import { setTimeout as sleep } from "node:timers/promises";
import { createSlots, encodeBlock, forgeBlock, headerToJson } from "@uniknode/protocol";
import { connectPeer } from "../../../packages/node/src/peers/transport/connection.ts";
import { headerFromPeer } from "../../../packages/node/src/peers/verification/header.ts";
import type { ReceivedHeader } from "../../../packages/node/src/peers/wire/replies/received-blocks.ts";
import { present } from "../../../packages/node/src/platform/present.ts";
import type { Attack } from "../attack-definition.ts";
import { startLyingPeer } from "../lying-peer.ts";
import { repeat } from "../requests.ts";
import { openAccounts } from "../sender.ts";
import { startForging } from "../start-node.ts";
import { hostileDelegate, type Target } from "../target.ts";

/** Just below the longest reply with blocks. */
const REPLY_LENGTH = 20_900_000;
/** The node dials its callers: the status is requested from an address that does not listen. */
const OBSERVER = "127.46.0.1";
const OBSERVE_MS = 500;
const LIMITS = { timeoutMs: 5_000, maxBytes: 1_000_000 };
/** Seconds of a slot: the node asks a peer for blocks twice, 2 s apart, within the slot of their delegate. */
const BLOCKTIME = 8;
/** Time after which a slot without a block is that of their delegate. */
const FORGING_MS = 800;
/** Time in which the node dials, verifies and asks a peer. */
const LIFETIME_MS = 12_000;
/** Peers at a time. */
const PEERS = 12;

type Status = { readonly state: { readonly header: ReceivedHeader }; readonly config: object };

const repeated = (text: string, length: number): string => text.repeat(Math.floor(length / text.length));
const closed = (header: string, members: string): string => `${header.slice(0, -1)},${members}}`;

/** Replies with blocks, from the JSON of the header of the claimed block. */
const REPLIES: readonly ((header: string) => string)[] = [
  // Members that no block has.
  (header) => `[${closed(header, `${repeated('"x":[],', REPLY_LENGTH / 4)}"y":0`)}]`,
  (header) =>
    `[${repeated(`${closed(header, `"x":[${repeated("0,", 40_000)}0]`)},`, REPLY_LENGTH)}${header}]`,
  // As many transactions as the reply has space for: without bytes, of one byte, and one of all bytes.
  (header) => `[${closed(header, `"transactions":[${repeated('"",', REPLY_LENGTH / 4)}""]`)}]`,
  (header) => `[${closed(header, `"transactions":[${repeated('"ff",', REPLY_LENGTH)}"ff"]`)}]`,
  (header) => `[${closed(header, `"transactions":["${repeated("ff", REPLY_LENGTH)}"]`)}]`,
  (header) => `[${closed(header, `"transactions":["${repeated("\\n", REPLY_LENGTH)}"]`)}]`,
  // As many blocks as a reply may have, each with transactions.
  (header) => {
    const transactions = repeated(`"${"ff".repeat(500)}",`, REPLY_LENGTH / 400 - 2_000);
    return `[${Array(400)
      .fill(closed(header, `"transactions":[${transactions}"ff"]`))
      .join()}]`;
  },
  // Nested, and blank.
  (header) =>
    `[${closed(header, `"x":${"[".repeat(60)}${"]".repeat(60)}`)},${repeated("[],", REPLY_LENGTH)}0]`,
  () => `[${repeated(" ", REPLY_LENGTH)}]`,
];

export const lyingPeers: Attack = {
  name: "lying peers",
  description:
    "verified peers that send 20 MB of members, transactions or blanks instead of the block they claim",
  start: () => startForging({ hasLoopbackPeers: true, blocktime: BLOCKTIME }),
  // The delegate of the attackers has one slot in each round of five.
  minMs: 11 * 1_000 * BLOCKTIME,
  async run(target, tally, signal) {
    const { network } = openAccounts(target);
    const slots = createSlots(network);
    const { keys } = hostileDelegate(target);
    let honest: Status | undefined;
    const observing = repeat({ atOnce: 1, pauseMs: OBSERVE_MS }, signal, async () => {
      honest = await askStatus(target);
    });
    const startedMs = Date.now();
    let count = 0;
    await repeat({ atOnce: PEERS, pauseMs: 100 }, signal, async () => {
      if (!honest) return;
      const previous = headerFromPeer(honest.state.header, network);
      const slot = slots.slotAt(slots.timeAt(Date.now()));
      const timestamp = slots.slotTime(slot);
      const elapsedMs = Date.now() - slots.unixMsOf(timestamp);
      if (slot === slots.slotAt(previous.timestamp) || elapsedMs < FORGING_MS) return;
      const number = count++;
      const host = `127.45.${(number >> 2) & 0xff}.${1 + (number & 3)}`;
      const { header } = forgeBlock({ network, timestamp, previous, transactions: [] }, keys);
      const { uniknode: _, ...config } = honest.config as Record<string, unknown>;
      const toReply = present(REPLIES[number % REPLIES.length]);
      const peer = await startLyingPeer(host, target.peerPort, {
        status: { ...honest, config },
        common: previous,
        head: header,
        blocks: toReply(JSON.stringify(headerToJson(header))),
      });
      const unknown = { ...previous, height: previous.height + 1, id: "ab".repeat(32) };
      const unchained = forgeBlock({ network, timestamp, previous: unknown, transactions: [] }, keys);
      await introduce(target, host, encodeBlock(unchained, network));
      await sleep(LIFETIME_MS);
      tally.offered(peer.requests());
      peer.close();
    });
    await observing;
    // The node has no honest peers: it waits for the block that all its peers claim, until it has suspended them.
    tally.outage({ fromMs: startedMs, toMs: Date.now() + 1_000 * BLOCKTIME, reason: "behind" });
  },
};

/** Returns the status of the node; undefined if it does not reply. */
async function askStatus({ host, peerPort }: Target): Promise<Status | undefined> {
  const endpoint = { address: host, port: peerPort, localAddress: OBSERVER };
  const connection = await connectPeer(endpoint).catch(() => undefined);
  const reply = await connection?.call("p2p.peer.getStatus", {}, LIMITS).catch(() => undefined);
  connection?.close();
  return reply?.result as Status | undefined;
}

/** Makes the node dial the address, and then search for blocks that it does not have. */
async function introduce({ host, peerPort }: Target, localAddress: string, block: Uint8Array): Promise<void> {
  const connection = await connectPeer({ address: host, port: peerPort, localAddress }).catch(
    () => undefined,
  );
  await connection?.call("p2p.peer.getPeers", {}, LIMITS).catch(() => undefined);
  await sleep(200);
  await connection?.call("p2p.peer.postBlock", { block }, LIMITS).catch(() => undefined);
  connection?.close();
}
