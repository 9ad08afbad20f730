/** Hostile peers: connections, frames, blocks and heights. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createSlots, encodeBlock, forgeBlock } from "@uniknode/protocol";
import { connectPeer } from "../../../packages/node/src/peers/transport/connection.ts";
import { headerFromPeer } from "../../../packages/node/src/peers/verification/header.ts";
import type { ReceivedHeader } from "../../../packages/node/src/peers/wire/replies/received-blocks.ts";
import { present } from "../../../packages/node/src/platform/present.ts";
import { createDraws } from "../../../packages/node/test-support/faults/actors/random.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { frame, HELLO, UPGRADE } from "../peer-frames.ts";
import { createConnections, repeat } from "../requests.ts";
import { openAccounts } from "../sender.ts";
import { hostileDelegate } from "../target.ts";

const SESSIONS = 3_000;

export const peerSessions: Attack = {
  name: "peer sessions",
  description: `${SESSIONS} sessions of as many addresses in a few networks, half of them without a handshake`,
  async run({ host, peerPort }, tally, signal) {
    const addresses = clientAddresses(41);
    const connections = createConnections(tally);
    let opened = 0;
    await repeat({ atOnce: 1, pauseMs: 50 }, signal, async () => {
      const missing = Math.min(SESSIONS - connections.count(), 200);
      for (let index = 0; index < missing; index++) {
        connections.open(host, peerPort, addresses.next(), opened++ % 2 === 0 ? HELLO : UPGRADE).resume();
      }
    });
    connections.closeAll();
  },
};

export const peerMessages: Attack = {
  name: "peer messages",
  description: "frames of 20 MB that never end, random frames, calls faster than any limit",
  async run({ host, peerPort }, tally, signal) {
    const addresses = clientAddresses(42);
    const connections = createConnections(tally);
    const call = (cid: number) =>
      frame(JSON.stringify({ event: "p2p.peer.getStatus", data: { data: {}, headers: {} }, cid }));
    const deep = `{"event":"p2p.peer.getBlocks","data":${"[".repeat(100_000)}${"]".repeat(100_000)},"cid":2}`;
    const texts = [
      Buffer.concat([HELLO, frame("x".repeat(200_000), 20_000_000)]),
      Buffer.concat([HELLO, randomBytes(10_000)]),
      Buffer.concat([HELLO, ...Array.from({ length: 500 }, (_, index) => call(index + 2))]),
      Buffer.concat([HELLO, frame(deep)]),
    ];
    let opened = 0;
    await repeat({ atOnce: 1, pauseMs: 50 }, signal, async () => {
      for (let index = connections.count(); index < 60; index++) {
        connections.open(host, peerPort, addresses.next(), present(texts[opened++ % texts.length])).resume();
      }
    });
    connections.closeAll();
  },
};

type Status = { readonly state: { readonly header: ReceivedHeader } };
const LIMITS = { timeoutMs: 5_000, maxBytes: 20_000_000 };

export const delegateBlocks: Attack = {
  name: "delegate's blocks",
  description:
    "blocks signed by a real delegate: several for its slot, for slots of others, and of the future",
  async run(target, tally, signal) {
    const { network } = openAccounts(target);
    const slots = createSlots(network);
    const { keys } = hostileDelegate(target);
    const addresses = clientAddresses(43);
    const random = createDraws(1);
    await repeat({ atOnce: 4, pauseMs: 100 }, signal, async () => {
      const endpoint = { address: target.host, port: target.peerPort, localAddress: addresses.next() };
      const connection = await connectPeer(endpoint).catch(() => undefined);
      if (!connection) return sleep(200);
      try {
        const { result } = await connection.call("p2p.peer.getStatus", {}, LIMITS);
        const previous = headerFromPeer((result as Status).state.header, network);
        const now = slots.timeAt(Date.now());
        const slotTime = slots.slotTime(slots.slotAt(now));
        // At most the limit of one address: further connections would be closed for that reason alone.
        for (const timestamp of [slotTime, random.pick([slotTime - 2, slotTime + 2, slotTime + 3_600])]) {
          const block = forgeBlock({ network, timestamp, previous, transactions: [] }, keys);
          tally.offered();
          await connection.call("p2p.peer.postBlock", { block: encodeBlock(block, network) }, LIMITS);
        }
      } catch {
        tally.refused();
      } finally {
        connection.close();
      }
    });
  },
};
