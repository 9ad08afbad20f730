/** Runners of the peer-to-peer protocol (p2p.md). */
import assert from "node:assert/strict";
import { bytesToHex, hexToBytes } from "@uniknode/protocol";
import { peerAddress, subnetOf } from "../../packages/node/src/peers/addresses.ts";
import { broadcastQuota, broadcastRecipients } from "../../packages/node/src/peers/broadcast-quota.ts";
import { networkHeight } from "../../packages/node/src/peers/network-height.ts";
import { isQuorumEnough, quorumOf } from "../../packages/node/src/peers/quorum.ts";
import { searchCommonHeight } from "../../packages/node/src/peers/verification/common-height.ts";
import { isVersionAllowed } from "../../packages/node/src/peers/version-gate.ts";
import { decodeValue, encodeValue } from "../../packages/node/src/peers/wire/codec.ts";
import { WireError } from "../../packages/node/src/peers/wire/error.ts";
import { createFrameReader } from "../../packages/node/src/peers/wire/frames/read.ts";
import { guardJson } from "../../packages/node/src/peers/wire/json-guard.ts";
import { REQUEST_COMPLEXITY, serverMessageBytes } from "../../packages/node/src/peers/wire/limits.ts";
import { readResult } from "../../packages/node/src/peers/wire/replies/received.ts";
import {
  noCommonBlocks,
  writeFailure,
  writeReply,
} from "../../packages/node/src/peers/wire/replies/write.ts";
import { refusalOf } from "../../packages/node/src/peers/wire/requests/admit.ts";
import { type Call, readClientMessage } from "../../packages/node/src/peers/wire/requests/read.ts";
import { advance, NEW_SESSION, type Session } from "../../packages/node/src/peers/wire/requests/session.ts";
import { networkNamed } from "./networks.ts";
import { frameRunners } from "./p2p-frames.ts";
import { eachCase, type Runners } from "./vector.ts";

const network = networkNamed("livenet");

/** Whether something is taken, refused with the typed error or, wrongly, fails in another way. */
function isTaken(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

/** Decoded values with byte strings in the words of the vectors. */
const described = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return { $binaryHex: bytesToHex(value) };
  if (Array.isArray(value)) return value.map(described);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, described(member)]));
};

const OPENED: Session = advance(NEW_SESSION, { kind: "handshake", callId: 1 }, 0);

/** What the server of a stranger does with frames that come at once, the handshake being done. */
function receive(frames: readonly string[]): Call[] {
  const reader = createFrameReader({ isMasked: true, maxBytes: serverMessageBytes(network) });
  let session = OPENED;
  const calls: Call[] = [];
  for (const frame of frames) {
    for (const received of reader.read(hexToBytes(frame))) {
      assert.equal(received.kind, "text");
      const message = readClientMessage(received.kind === "text" ? received.text : "");
      session = advance(session, message, 0);
      if (message.kind !== "call") continue;
      assert.equal(refusalOf(message, { isTrusted: false }, true), undefined);
      calls.push(message);
    }
  }
  return calls;
}

/** Answers of a node at height 6 that knows no block a stranger could name and takes every transaction. */
function answerTo({ event, callId }: Call): string {
  assert.ok(callId !== undefined);
  if (event === "p2p.peer.getCommonBlocks") return writeFailure(callId, noCommonBlocks());
  assert.equal(event, "p2p.peer.postTransactions");
  return writeReply(callId, "p2p.peer.postTransactions", [], { version: "5.7.2", height: 6 });
}

export const p2pRunners: Runners = {
  ...frameRunners,

  codec: ({ encode, decode }) => [
    ...encode.map(({ name, value, encoded }: { name: string; value: unknown; encoded: string }) => ({
      name: `encode ${name}`,
      run: () => {
        const { hex } = value as { hex?: string };
        assert.equal(encodeValue(hex === undefined ? value : { block: hexToBytes(hex) }), encoded);
      },
    })),
    ...decode.map(({ text, kind, decoded }: { text: string; kind: string; decoded: unknown }) => ({
      name: `decode ${text}`,
      run: () => {
        const value = decodeValue(text);
        assert.equal(typeof value, kind);
        assert.deepEqual(described(value), decoded);
      },
    })),
  ],

  "json-guard": eachCase(({ text, accepted }) => {
    assert.equal(
      isTaken(() => guardJson(text, { ...REQUEST_COMPLEXITY, isStrict: true })),
      accepted,
    );
  }),

  "refused-messages": eachCase(({ frames, outcome, repliesBeforeCut }) => {
    if (outcome === "cut") {
      assert.throws(() => receive(frames), WireError);
      return;
    }
    assert.equal(outcome, "answered");
    assert.deepEqual(receive(frames).map(answerTo), repliesBeforeCut);
  }),

  "reply-validation": eachCase(({ endpoint, data, accepted }) => {
    const generated = /^(\d+) entries of the form \{ip\}$/.exec(data?.$generated)?.[1];
    const result = generated ? Array(Number(generated)).fill({ ip: "203.0.113.7" }) : data;
    assert.equal(
      isTaken(() => readResult(endpoint, result, network)),
      accepted,
    );
  }),

  "algo-block-broadcast-quota": eachCase(({ peers, pingCount, quota, recipients }) => {
    assert.equal(broadcastQuota(pingCount), quota);
    assert.equal(broadcastRecipients(pingCount, peers), recipients);
  }),

  "algo-forger-quorum": eachCase(({ quorum, enough, ...votes }) => {
    assert.equal(quorumOf(votes), quorum);
    assert.equal(isQuorumEnough(quorum), enough);
  }),

  "algo-network-height": eachCase(({ heights, networkHeight: expected }) => {
    assert.equal(networkHeight(heights), expected);
  }),

  "algo-nsect": eachCase(({ low, high, highestCommon, probes, result }) => {
    const search = searchCommonHeight(low, high);
    const made: { heights: number[]; answer: number | null }[] = [];
    let step = search.next();
    while (!step.done) {
      const heights = step.value;
      const answer = heights.findLast((height) => highestCommon !== null && height <= highestCommon);
      made.push({ heights, answer: answer ?? null });
      step = search.next(answer);
    }
    assert.deepEqual(made, probes);
    assert.equal(step.value ?? null, result);
  }),

  "algo-peer-address": eachCase(({ address, accepted, storedAs }) => {
    assert.equal(peerAddress(address) !== undefined, accepted);
    assert.equal(peerAddress(address) ?? null, storedAs);
  }),

  "algo-subnet": eachCase(({ address, key }) => {
    assert.equal(subnetOf(address), key);
  }),

  "algo-version-check": eachCase(({ network: name, minimumVersions, version, accepted }) => {
    assert.equal(isVersionAllowed(version, minimumVersions, name), accepted);
  }),
};
