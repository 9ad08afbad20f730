/** Verification of the chains of peers (p2p.md 10.4), and the choice of a branch (14). */
import {
  type Block,
  type BlockHeader,
  decodeHeader,
  encodeBlock,
  encodeHeader,
  headerToJson,
  keysFromPassphrase,
} from "@uniknode/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { branchToSwitchTo } from "../../src/peers/forks.ts";
import { isForked, type Peer } from "../../src/peers/peer-table.ts";
import { checkPreflight } from "../../src/peers/peers.ts";
import { BlockHandlers } from "../../src/peers/requests/handlers.ts";
import { PeerError, type ReplyError } from "../../src/peers/transport/calls.ts";
import { type RequestPeer, verifyChain } from "../../src/peers/verify-chain.ts";
import { decodeValue, encodeValue, packBlocks } from "../../src/peers/wire/codec.ts";
import { type PeerEvent, type ReceivedStatus, readResult } from "../../src/peers/wire/replies.ts";
import { present } from "../../src/platform/present.ts";
import {
  LAST_SLOT,
  network,
  now,
  openTestChain,
  range,
  rounds,
  slots,
  statusOn,
  type TestChain,
  verifier,
} from "../../test-support/peers/chains.ts";

const chains: TestChain[] = [];
function open(): TestChain {
  const chain = openTestChain();
  chains.push(chain);
  return chain;
}
afterEach(async () => {
  for (const chain of chains.splice(0)) await chain.close();
});

const overTheWire = (event: PeerEvent, result: unknown) =>
  readResult(event, decodeValue(encodeValue(result)), network);

/** Status of a node with that chain. */
function statusFrom({ chain }: TestChain, isUniknode = true): ReceivedStatus {
  const status = statusOn(chain);
  return { ...(overTheWire("p2p.peer.getStatus", status) as ReceivedStatus), isUniknode };
}

/** Replies of a node with that chain. */
function askFrom({ chain }: TestChain, requested: string[] = []): RequestPeer {
  const handlers = new BlockHandlers({ blocks: chain.blocks, head: chain.head });
  return (async (event: PeerEvent, argument: never) => {
    requested.push(event);
    const result =
      event === "p2p.peer.getCommonBlocks"
        ? await handlers.getCommonBlocks(argument).catch((error: ReplyError) => {
            throw new PeerError("PEER_REFUSED", error.message);
          })
        : event === "p2p.peer.getBlocks"
          ? await handlers.getBlocks(argument)
          : await handlers.getPackedBlocks(argument);
    return overTheWire(event, result);
  }) as unknown as RequestPeer;
}

/** Reply of a node that denies to have the blocks of the chain above a height. */
const askCommonUpTo = (height: number, { chain }: TestChain, { ids }: { ids: string[] }) => {
  const headers = ids.flatMap((id) => chain.blocks.headerById(id) ?? []);
  return headers.findLast((header) => header.height <= height) ?? null;
};

const verify = (own: TestChain, status: ReceivedStatus, request: RequestPeer) =>
  verifyChain(status, request, {
    network,
    slots,
    rounds,
    state: own.chain.state,
    verify: (checks) => verifier.verify(checks),
    now,
    head: own.chain.head,
    header: (height) => own.chain.blocks.header(height),
  });

/** Status of a node that claims this head. */
const statusOfHead = (header: BlockHeader): ReceivedStatus => {
  const json = { ...headerToJson(header) };
  const state = { height: header.height, forgingAllowed: true, currentSlot: 1, header: json };
  return { state, config: {} as ReceivedStatus["config"], isUniknode: true, processId: "" };
};

const packed = (block: Block) => ({ blocks: packBlocks([encodeBlock(block, network)]) });

/** Returns the same header with another signature, and the resulting id. */
const signedBy = (header: BlockHeader, blockSignature: string): BlockHeader =>
  decodeHeader(encodeHeader({ ...header, blockSignature }, network), network).header;

const noPeer: RequestPeer = () => Promise.reject(new Error("no peer should have been queried"));

describe("a peer on our chain", () => {
  test("A peer on our chain is verified by its head alone unless it is ahead.", async () => {
    const [own, other] = [open(), open()];
    const blocks = await own.forge(...range(1, 5));
    await other.take(...blocks.slice(0, 3));
    const expected = { myHeight: 6, hisHeight: 4, verifiedHeight: 4, highestCommonHeight: 4 };
    expect(await verify(own, statusFrom(other), noPeer)).toEqual(expected);
    await other.take(...blocks.slice(3));
    expect((await verify(own, statusFrom(other), noPeer)).highestCommonHeight).toBe(6);
  });

  test.each([
    ["a node of this kind", true, "uniknode.peer.getBlocks"],
    ["an old node", false, "p2p.peer.getBlocks"],
  ])(
    "A peer on our chain is verified by its headers above ours if it is ahead: %s.",
    async (_, isUniknode, event) => {
      const [own, other] = [open(), open()];
      await own.take(...(await other.forge(...range(1, 5))).slice(0, 2));
      const requested: string[] = [];
      const result = await verify(own, statusFrom(other, isUniknode), askFrom(other, requested));
      // Block 4 is the last of its round, and the delegates of the next one are not known.
      expect(result).toEqual({ myHeight: 3, hisHeight: 6, verifiedHeight: 4, highestCommonHeight: 3 });
      expect(requested).toEqual(["p2p.peer.getCommonBlocks", event]);
    },
  );
});

test("The highest common block of two branches is found at every height.", async () => {
  for (const common of [1, 3, 17, 30]) {
    const [own, other] = [open(), open()];
    await other.take(...(await own.forge(...range(1, common - 1))));
    await own.forge(...range(200, 240));
    await other.forge(...range(300, 320));
    const result = await verify(own, statusFrom(other), askFrom(other));
    // The end of a round of four delegates.
    const verifiedHeight = 4 * Math.ceil((common + 1) / 4);
    const heights = { myHeight: common + 41, hisHeight: common + 21, highestCommonHeight: common };
    expect(result).toEqual({ ...heights, verifiedHeight });
  }
});

describe("a peer is refused", () => {
  async function branches() {
    const [own, other] = [open(), open()];
    await other.take(...(await own.forge(...range(1, 5))));
    await other.forge(...range(6, 9));
    return { own, other };
  }
  const refusal = (own: TestChain, status: ReceivedStatus, request: RequestPeer) =>
    verify(own, status, request).then(
      () => "verified",
      ({ message }: Error) => message,
    );

  test("A peer is refused that sends another block than its head.", async () => {
    const { own, other } = await branches();
    const status = statusFrom(other);
    const lying = { ...status, state: { ...status.state, height: 99 } };
    expect(await refusal(own, lying, noPeer)).toBe("it does not send its head");
    const idless = { ...present(status.state.header), id: "ab".repeat(32) };
    const otherId = { ...status, state: { ...status.state, header: idless } };
    expect(await refusal(own, otherId, noPeer)).toContain("does not match its content");
  });

  test("A peer is refused whose head has no valid signature.", async () => {
    const { own, other } = await branches();
    const header = signedBy(other.make(20).header, other.header(4).blockSignature);
    expect(await refusal(own, statusOfHead(header), askFrom(other))).toBe(
      "its head is not signed by its generator",
    );
  });

  test("A peer is refused that claims a height without sending its blocks.", async () => {
    const { own, other } = await branches();
    // Any key can sign a header of any height.
    const { header } = other.make(20, { keys: keysFromPassphrase("unknown") });
    expect(await refusal(own, statusOfHead(header), askFrom(own))).toBe(
      "it does not send the blocks that it claims",
    );
  });

  test("A peer is refused whose branch is of the wrong delegates.", async () => {
    const { own } = await branches();
    const liar = open();
    await liar.take(...range(2, 6).map((height) => present(own.chain.blocks.block(height))));
    const made = liar.make(30, { keys: keysFromPassphrase("unknown") });
    const status = statusOfHead(made.header);
    const request = ((event: PeerEvent, argument: never) =>
      event === "uniknode.peer.getBlocks"
        ? Promise.resolve(overTheWire(event, packed(made)))
        : askFrom(liar)(event as never, argument, undefined as never)) as unknown as RequestPeer;
    expect(await refusal(own, status, request)).toContain("was not forged by the delegate of its slot");
  });

  test("A peer is refused that names a common block that was not requested.", async () => {
    const { own, other } = await branches();
    const request = (async () => ({ height: 5, id: "ab".repeat(32) })) as unknown as RequestPeer;
    expect(await refusal(own, statusFrom(other), request)).toContain("a common block that was not requested");
  });

  test("A peer is refused that names a lower common block than the headers that it sends.", async () => {
    const { own } = await branches();
    await own.forge(...range(20, 30));
    // Any key can sign a head; the headers up to the end of the round are ours.
    const { header } = own.make(LAST_SLOT, { keys: keysFromPassphrase("unknown") });
    const request = (async (event: PeerEvent, argument: never) =>
      event === "p2p.peer.getCommonBlocks"
        ? askCommonUpTo(7, own, argument)
        : askFrom(own)(event as never, argument, undefined as never)) as unknown as RequestPeer;
    expect(await refusal(own, statusOfHead(header), request)).toBe("it sends a block that it denied to have");
  });

  test.each([
    ["on our branch", 6],
    ["at its common block", 5],
  ])("A peer is refused that sends another block than its head later: %s.", async (_, height) => {
    const { own, other } = await branches();
    await own.chain.revertTo(5);
    const liar = open();
    await liar.take(...range(2, height - 1).map((below) => present(other.chain.blocks.block(below))));
    const { header } = liar.make(LAST_SLOT, { keys: keysFromPassphrase("unknown") });
    expect(await refusal(own, statusOfHead(header), askFrom(other))).toBe("it does not send its head");
  });

  test("A peer is refused that has no block in common with us.", async () => {
    const { own, other } = await branches();
    const request = (async () => null) as unknown as RequestPeer;
    expect(await refusal(own, statusFrom(other), request)).toBe("it has no block in common with this node");
  });

  test("A peer is refused whose blocks lie in the future.", async () => {
    const { own, other } = await branches();
    const made = other.make(LAST_SLOT + 1);
    const request = ((event: PeerEvent, argument: never) =>
      event === "uniknode.peer.getBlocks"
        ? Promise.resolve(overTheWire(event, packed(made)))
        : askFrom(other)(event as never, argument, undefined as never)) as unknown as RequestPeer;
    await own.take(...range(7, 10).map((height) => present(other.chain.blocks.block(height))));
    expect(await refusal(own, statusOfHead(made.header), request)).toContain("is in the future");
  });
});

describe("the branch to switch to", () => {
  const peer = (ip: string, hisHeight: number, highestCommonHeight: number, myHeight = 10, id = ip): Peer =>
    ({
      ip,
      height: hisHeight,
      status: { state: { header: { id } } },
      verification: { myHeight, hisHeight, verifiedHeight: hisHeight, highestCommonHeight },
    }) as Peer;

  test("A peer is forked when neither chain contains the head of the other.", () => {
    expect(isForked(peer("a", 12, 10))).toBe(false);
    expect(isForked(peer("a", 8, 8))).toBe(false);
    expect(isForked(peer("a", 12, 9))).toBe(true);
  });

  test.each([
    ["no peer is forked", [peer("a", 12, 10), peer("b", 10, 10)], undefined],
    ["fewer than half are forked", [peer("a", 12, 8), peer("b", 10, 10), peer("c", 10, 10)], undefined],
    [
      "half are forked, and higher",
      [peer("a", 12, 8), peer("b", 10, 10)],
      { commonHeight: 8, height: 12, peers: ["a"], holders: ["a"] },
    ],
    ["half are forked, and not higher", [peer("a", 10, 8), peer("b", 10, 10)], undefined],
    [
      "the largest group counts",
      [peer("a", 30, 9), peer("b", 12, 7), peer("c", 13, 7)],
      { commonHeight: 7, height: 13, peers: ["b", "c"], holders: ["c"] },
    ],
    [
      "the later of two groups of one size",
      [peer("a", 12, 5), peer("b", 12, 7)],
      { commonHeight: 7, height: 12, peers: ["b"], holders: ["b"] },
    ],
    [
      "of two heads after one block, that of the majority",
      [peer("a", 12, 8, 10, "x"), peer("b", 12, 8, 10, "y"), peer("c", 12, 8, 10, "y")],
      { commonHeight: 8, height: 12, peers: ["a", "b", "c"], holders: ["b", "c"] },
    ],
    [
      "of two heads with equally many peers, the lower id",
      [peer("a", 12, 8, 10, "y"), peer("b", 12, 8, 10, "x")],
      { commonHeight: 8, height: 12, peers: ["a", "b"], holders: ["b"] },
    ],
    ["it is too far away", [peer("a", 6_000, 10, 5_999)], undefined],
  ])("%s", (_, peers, expected) => {
    const branch = branchToSwitchTo(peers, present(peers[0]).verification.myHeight);
    const ips = (some: readonly Peer[]) => some.map(({ ip }) => ip);
    expect(branch && { ...branch, peers: ips(branch.peers), holders: ips(branch.holders) }).toEqual(expected);
  });

  test("Forging is refused if the node is behind verified peers, on an abandoned branch, or out of sync.", () => {
    const head = { height: 10 } as never;
    const failure = (peers: Peer[], isSynced = true) => checkPreflight(peers, { head, isSynced });
    expect(failure([])).toBeUndefined();
    expect(failure([peer("a", 10, 10)])).toBeUndefined();
    expect(failure([peer("a", 11, 10)])).toMatch(/^behind: 1 of 1 peers/);
    expect(failure([peer("a", 12, 8)])).toMatch(/^on a wrong branch: 1 of 1/);
    expect(failure([], false)).toMatch(/^not in sync/);
  });

  test("A height that a peer only claims does not prevent forging, a height with verified headers does.", () => {
    const claimed = peer("a", 999_999, 10);
    const liar = { ...claimed, verification: { ...claimed.verification, verifiedHeight: 11 } };
    const failure = (height: number) => checkPreflight([liar], { head: { height } as never, isSynced: true });
    expect(failure(11)).toBeUndefined();
    expect(failure(10)).toBe("behind: 1 of 1 peers are at height 11, this node at 10");
  });
});
