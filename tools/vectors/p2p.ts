/** Runners of the peer-to-peer protocol (p2p.md). */
import assert from "node:assert/strict";
import { bytesToHex, hexToBytes } from "@uniknode/protocol";
import { peerAddress, subnetOf } from "../../packages/node/src/peers/addresses.ts";
import { broadcastQuota, broadcastRecipients } from "../../packages/node/src/peers/block-broadcast.ts";
import { networkHeight } from "../../packages/node/src/peers/peer-table.ts";
import { isQuorumEnough, shareOfAgreeing } from "../../packages/node/src/peers/peers.ts";
import { searchCommonHeight } from "../../packages/node/src/peers/verify-chain.ts";
import { isVersionAllowed } from "../../packages/node/src/peers/versions.ts";
import { readClientMessage } from "../../packages/node/src/peers/wire/client-messages.ts";
import { decodeValue, encodeValue } from "../../packages/node/src/peers/wire/codec.ts";
import { readResult } from "../../packages/node/src/peers/wire/replies.ts";
import { WireError, type WireErrorCode } from "../../packages/node/src/peers/wire/wire-error.ts";
import { networkNamed } from "./networks.ts";
import { compareTexts, headersOf, openRaw, withServer } from "./p2p-frames.ts";
import { recordedNode } from "./p2p-node.ts";
import { eachCase, type Runners } from "./vector.ts";

const network = networkNamed("livenet");

/** Returns the code of the typed error, if one is thrown; fails with any other error. */
function codeOf(action: () => unknown): WireErrorCode | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof WireError) return error.code;
    throw error;
  }
}

const isTaken = (action: () => unknown): boolean => codeOf(action) === undefined;

/** Decoded values with byte strings in the words of the vectors. */
const described = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return { $binaryHex: bytesToHex(value) };
  if (Array.isArray(value)) return value.map(described);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, described(member)]));
};

type Expected = { readonly expected: number; readonly isCut: boolean };

/** Returns the replies of our server to frames after the handshake, until it closes the connection or all expected ones came. */
async function repliesTo(
  frames: readonly string[],
  port: number,
  { expected, isCut }: Expected,
): Promise<string[]> {
  const end = await openRaw(port);
  const replies: string[] = [];
  async function listen(count: number): Promise<void> {
    while (replies.length < count) {
      const item = await end.next();
      if (item.kind !== "frame") return;
      // The library sends a close frame before it cuts the connection after a broken frame; pings can come at any time.
      if (item.opcode !== 8 && String(item.payload) !== "#1") replies.push(String(item.payload));
    }
  }
  // Frames with a reply precede frames without one.
  for (const [index, hex] of frames.entries()) {
    end.write(hexToBytes(hex));
    if (index < expected) await listen(index + 1);
  }
  await listen(expected);
  if (isCut) await listen(Number.POSITIVE_INFINITY);
  end.end();
  return replies;
}

export const p2pRunners: Runners = {
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
    // Blanks extend it to the minimum length of a message; its content is not checked here.
    assert.equal(codeOf(() => readClientMessage(text.padEnd(10))) !== "MESSAGE_JSON", accepted);
  }),

  "refused-messages": eachCase(async ({ frames, outcome, repliesBeforeCut }) => {
    assert.ok(outcome === "cut" || outcome === "answered");
    // The pong before the cut comes from the library, and has no effect.
    const expected = repliesBeforeCut.filter((reply: unknown) => typeof reply === "string");
    const messages = expected.map((text: string) => decodeValue(text));
    const setting = {
      handle: recordedNode(messages, network),
      headers: headersOf(messages),
      isReady: true,
      trusts: false,
    };
    await withServer(setting, async (port) => {
      const replies = await repliesTo(frames, port, { expected: expected.length, isCut: outcome === "cut" });
      assert.equal(replies.length, expected.length);
      for (const [index, reply] of replies.entries()) compareTexts(reply, expected[index]);
    });
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
    assert.equal(shareOfAgreeing(votes), quorum);
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
      const common = heights.findLast((height) => highestCommon !== null && height <= highestCommon);
      made.push({ heights, answer: common ?? null });
      step = search.next(common);
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
