/** State of the network for a forger (p2p.md 9, forger.md 4). */
import { headerToJson } from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Peer } from "../../src/peers/peer-table.ts";
import { networkState, reportNetworkState } from "../../src/peers/peers.ts";
import { decodeValue, encodeValue } from "../../src/peers/wire/codec.ts";
import type { NetworkState } from "../../src/peers/wire/events.ts";
import { readResult } from "../../src/peers/wire/replies.ts";
import {
  network,
  now,
  openTestChain,
  range,
  slots,
  statusOn,
  type TestChain,
} from "../../test-support/peers/chains.ts";

let own: TestChain;
let higher: TestChain;
beforeEach(async () => {
  own = openTestChain();
  higher = openTestChain();
  const common = await own.forge(...range(1, 5));
  await higher.take(...common);
  await higher.forge(6, 7);
});
afterEach(async () => {
  await own.close();
  await higher.close();
});

/** Peer with the chain of another, as it was when it was verified. */
function peerOn(
  { chain }: TestChain,
  highestCommonHeight = 6,
  changes: Partial<Peer["status"]["state"]> = {},
): Peer {
  const received = readResult("p2p.peer.getStatus", decodeValue(encodeValue(statusOn(chain))), network);
  const { height } = received.state;
  return {
    ip: "203.0.113.7",
    status: { ...received, state: { ...received.state, ...changes } },
    height,
    latencyMs: 1,
    verifiedAt: 0,
    ports: {},
    verification: {
      myHeight: own.chain.head().height,
      hisHeight: height,
      verifiedHeight: height,
      highestCommonHeight,
    },
  };
}
const stateWith = (peers: readonly Peer[], minPeers = 1): NetworkState =>
  networkState(peers, { network, slots, head: own.chain.head(), now: now(), minPeers });

test("Peers at our height count for us, those above it and on other branches against us.", () => {
  const { height, id } = own.chain.head();
  const head = higher.chain.head();
  const { quorumDetails, ...state } = stateWith([
    peerOn(own),
    peerOn(own),
    peerOn(higher),
    peerOn(own, 3),
    peerOn(own, 6, { currentSlot: 1, forgingAllowed: false }),
  ]);
  expect(state).toEqual({ status: 0, nodeHeight: height, lastBlockId: id });
  expect(quorumDetails).toEqual({
    peersQuorum: 3,
    peersNoQuorum: 2,
    peersOverHeight: 1,
    peersOverHeightBlockHeaders: { [head.id]: headerToJson(head) },
    peersForked: 1,
    peersDifferentSlot: 1,
    peersForgingNotAllowed: 1,
  });
});

test("A peer counts as higher by the height in a reply, without a header.", () => {
  const { quorumDetails } = stateWith([{ ...peerOn(own), height: 9 }]);
  expect(quorumDetails).toMatchObject({
    peersOverHeight: 1,
    peersNoQuorum: 1,
    peersOverHeightBlockHeaders: {},
  });
});

test("Fewer peers than the minimum are reported.", () => {
  expect(stateWith([peerOn(own)], 2).status).toBe(1);
  expect(stateWith([], 0).status).toBe(0);
});

test("A block of one of our own delegates above our head is logged as a warning.", () => {
  const logged: object[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const { generatorPublicKey, id } = higher.chain.head();
  const report = (isOwnDelegate: (publicKey: string) => boolean) =>
    reportNetworkState(stateWith([peerOn(higher)]), { isOwnDelegate, logger });
  report(() => false);
  expect(logged).toMatchObject([{ msg: "about to forge", quorum: 0, peersNoQuorum: 1 }]);
  report((publicKey) => publicKey === generatorPublicKey);
  expect(logged.slice(2)).toMatchObject([
    { level: 40, id, generatorPublicKey, msg: "another process appears to forge with a key of this node" },
  ]);
});
