/** An owner of many IPv6 addresses that opens as many sessions on the peer port as the node allows. */
import { connectPeer } from "../../../packages/node/src/peers/transport/connection.ts";
import { present } from "../../../packages/node/src/platform/present.ts";
import type { Attack } from "../attack-definition.ts";
import { missingForIpv6 } from "../own-network.ts";
import { HELLO } from "../peer-frames.ts";
import { ask, createConnections, repeat } from "../requests.ts";
import type { Target } from "../target.ts";

const NODE = "2001:db8:ffff::1";
const HONEST = "2001:db8:3:1::1";
/** Concurrent attempts of all sources. */
const ATTEMPTS = 600;
/** Limits of one /64 and one /48, plus the honest peer. */
const MAX_SESSIONS = 10 + 20 + 1;
const HONEST_PAUSE_MS = 1_000;
const LIMITS = { timeoutMs: 5_000, maxBytes: 100_000 };

const hex = (count: number): string => (1 + (count % 65_535)).toString(16);
/** Generates new addresses: in one /64, and in new /64s of one /48. */
const SOURCES = [
  (count: number) => `2001:db8:1:1:${hex(count)}:${hex(count)}::1`,
  (count: number) => `2001:db8:2:${hex(count)}::1`,
];

/** @throws {Error} if the honest peer cannot connect or gets no reply */
async function askHonestly(port: number): Promise<void> {
  const endpoint = { address: NODE, port, localAddress: HONEST };
  const connection = await connectPeer(endpoint).catch((error: Error) => {
    throw new Error(`an honest peer does not get in: ${error.message}`);
  });
  try {
    await connection.call("p2p.peer.getStatus", {}, LIMITS);
  } finally {
    connection.close();
  }
}

async function sessions(target: Target): Promise<number> {
  const headers = { authorization: target.token };
  const { text } = await ask(target, { path: "/metrics", from: "127.47.0.1", headers });
  return Number(/^uniknode_peers_sessions (\d+)$/m.exec(text)?.[1]);
}

export const ipv6Peers: Attack = {
  name: "IPv6 peers",
  description: `sessions from ever new addresses of one /64 and of one /48, ${ATTEMPTS} at a time, beside an honest peer`,
  missingRequirement: missingForIpv6,
  async run(target, tally, signal) {
    const connections = createConnections(tally);
    // Connections of former attacks, which the node has not closed yet.
    const before = await sessions(target);
    let opened = 0;
    let most = 0;
    const attacking = repeat({ atOnce: 1, pauseMs: 50 }, signal, async () => {
      const missing = Math.min(ATTEMPTS - connections.count(), 200);
      for (let index = 0; index < missing; index++) {
        const source = present(SOURCES[opened % SOURCES.length])(opened++);
        connections.open(NODE, target.peerPort, source, HELLO).resume();
      }
    });
    const asking = repeat({ atOnce: 1, pauseMs: HONEST_PAUSE_MS }, signal, async () => {
      // Before the honest peer connects again: the node has closed its former connection by now.
      most = Math.max(most, await sessions(target));
      await askHonestly(target.peerPort);
    });
    try {
      await Promise.all([attacking, asking]);
    } finally {
      connections.closeAll();
    }
    const held = most - before;
    if (!(held <= MAX_SESSIONS)) throw new Error(`they hold up to ${held} sessions`);
  },
};
