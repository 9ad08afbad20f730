import { encodeHeader } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { BlockStore } from "../../src/store/chain/blocks.ts";
import { chain, heads } from "../../test-support/http/chain.ts";
import {
  applied,
  idsOf,
  LINGER_MS,
  openStreams,
  peerAdded,
  TOKEN,
} from "../../test-support/stream/support.ts";

const backFrom = (id: string) => ({ authorization: TOKEN, "last-event-id": id });
const place = ({ height, id }: { height: number; id: string }) => `${height}.${id}`;
const blockIds = chain.blocks.map(({ header }) => `block.applied:${header.id}`);

describe("a reader that reconnects", () => {
  test("A reader that reconnects receives missed events exactly once.", async () => {
    const { listen, emit } = await openStreams();
    const first = await listen("?events=peer.added");
    emit(peerAdded("a"), peerAdded("b"));
    await expect.poll(() => first.events).toHaveLength(2);
    first.close();
    emit(peerAdded("c"));
    const second = await listen("?events=peer.added", backFrom(present(first.events[0], "an event").id));
    await expect.poll(() => idsOf(second)).toEqual(["peer.added:b", "peer.added:c"]);
    emit(peerAdded("d"));
    await expect.poll(() => idsOf(second).at(-1)).toBe("peer.added:d");
    expect(second.events).toHaveLength(3);
  });

  test("A reader that reconnects can send its position in the query, and the header takes precedence.", async () => {
    const { listen, emit } = await openStreams();
    await listen("?events=peer.added");
    emit(peerAdded("a"), peerAdded("b"));
    const byQuery = await listen("?events=peer.added&lastEventId=1");
    await expect.poll(() => idsOf(byQuery)).toEqual(["peer.added:b"]);
    const byHeader = await listen("?events=peer.added&lastEventId=1", backFrom("0"));
    await expect.poll(() => idsOf(byHeader)).toEqual(["peer.added:a", "peer.added:b"]);
  });

  test("A reader that reconnects receives everything even if it was disconnected before the first event.", async () => {
    const { listen, emit } = await openStreams();
    const first = await listen("?events=peer.added");
    await expect.poll(first.lastId).toBe(`0.${place(heads.head)}`);
    first.close();
    emit(peerAdded("a"));
    const second = await listen("?events=peer.added", backFrom(first.lastId()));
    await expect.poll(() => idsOf(second)).toEqual(["peer.added:a"]);
  });

  test("A reader that reconnects reads more than one page of the log.", async () => {
    const { listen, emit } = await openStreams();
    await listen("?events=peer.added");
    emit(...Array.from({ length: 1_001 }, (_, index) => peerAdded(`${index}`)));
    const second = await listen("?events=peer.added", backFrom("0"));
    await expect.poll(() => second.events.length).toBe(1_001);
    expect(idsOf(second)).toEqual(Array.from({ length: 1_001 }, (_, index) => `peer.added:${index}`));
  });

  test("A reader that reconnects misses nothing over a restart of the node.", async () => {
    const { listen, emit, restart } = await openStreams();
    const first = await listen("?events=peer.added");
    await expect.poll(first.lastId).not.toBe("");
    first.close();
    emit(peerAdded("a"));
    restart();
    emit(peerAdded("b"));
    const second = await listen("?events=peer.added", backFrom(first.lastId()));
    await expect.poll(() => idsOf(second)).toEqual(["peer.added:a", "peer.added:b"]);
  });
});

describe("a reader that reconnects too late for the log", () => {
  /** The events had no subscriber meanwhile. */
  async function late(query: string, id: string) {
    const opened = await openStreams();
    const { listen, emit, clock, node, stream } = opened;
    const first = await listen(query);
    first.close();
    await expect.poll(() => stream.figures().open).toBe(0);
    const other = await listen("?events=peer.removed");
    emit({ id: "peer.removed:b", name: "peer.removed" });
    await expect.poll(() => other.events).toHaveLength(1);
    clock.nowMs += LINGER_MS;
    node.subscribedEvents.dropExpired();
    emit(applied(4, heads.head.id), peerAdded("a"));
    return { ...opened, second: await listen(query, backFrom(id)) };
  }

  test("A reader that reconnects too late for the log receives stored blocks from its position on, and new ones.", async () => {
    const { second, emit } = await late("?events=block.applied", `0.${place(heads.third)}`);
    await expect.poll(() => idsOf(second)).toEqual(blockIds.slice(2));
    expect(second.lastId()).toMatch(/^\d+\.|^\./);
    emit(applied(5));
    await expect.poll(() => idsOf(second).at(-1)).toBe("block.applied:500");
    expect(second.events).toHaveLength(3);
  });

  test("A reader that reconnects too late for the log resumes once more in the middle of stored blocks.", async () => {
    const { second, listen } = await late("?events=block.applied", `0.${place(heads.genesis)}`);
    await expect.poll(() => idsOf(second)).toEqual(blockIds);
    const { id } = present(second.events[1], "an event");
    expect(id).toBe(`.${place(present(chain.blocks[1], "the second block").header)}`);
    const third = await listen("?events=block.applied", backFrom(id));
    await expect.poll(() => idsOf(third)).toEqual(blockIds.slice(1));
  });

  test("A reader that reconnects with a position in the log of another node receives stored blocks.", async () => {
    const { listen, emit } = await openStreams({ logId: "0a0b0c0d" });
    const first = await listen("?events=block.applied,peer.added");
    // Event 2 of this log is not a fact of the chain, and the reader would miss event 1.
    emit(applied(4, heads.head.id), peerAdded("a"));
    await expect
      .poll(() => first.events.map(({ id }) => id))
      .toEqual([`1-0a0b0c0d.${place(heads.head)}`, "2-0a0b0c0d"]);
    const second = await listen("?events=block.applied", backFrom(`2-1a1b1c1d.${place(heads.genesis)}`));
    await expect.poll(() => idsOf(second)).toEqual(blockIds);
    expect((await listen("?events=block.applied", backFrom("2-1a1b1c1d.4.12345"))).status).toBe(410);
    const peers = await listen(
      "?events=block.applied,peer.added",
      backFrom(`2-1a1b1c1d.${place(heads.third)}`),
    );
    expect(peers.status).toBe(410);
    expect((await listen("?events=peer.added", backFrom("1-1a1b1c1d"))).status).toBe(410);
    const own = await listen("?events=block.applied,peer.added", backFrom(`1-0a0b0c0d.${place(heads.head)}`));
    await expect.poll(() => idsOf(own)).toEqual(["peer.added:a"]);
  });

  test("A reader that reconnects with a position of an earlier version repeats its block, or continues in the log.", async () => {
    const { listen, emit } = await openStreams({ logId: "0a0b0c0d" });
    await listen("?events=block.applied,peer.added");
    emit(applied(4, heads.head.id), peerAdded("a"));
    const facts = await listen("?events=block.applied", backFrom(`1.${place(heads.head)}`));
    await expect.poll(() => idsOf(facts)).toEqual(blockIds.slice(3));
    const peers = await listen("?events=peer.added", backFrom("1"));
    await expect.poll(() => idsOf(peers)).toEqual(["peer.added:a"]);
  });

  test("A reader that reconnects too late for the log gets an error if its block was reverted meanwhile.", async () => {
    const { second } = await late("?events=block.applied", "0.3.12345");
    expect(second.status).toBe(410);
    await expect.poll(second.text).toContain("block 12345 was reverted");
  });

  test("A reader that reconnects too late gets an error if its events cannot be derived from stored blocks.", async () => {
    const { second } = await late("?events=block.applied,peer.added", `0.${place(heads.third)}`);
    expect(second.status).toBe(410);
    await expect.poll(second.text).toContain("are no longer available");
  });

  test("A reader that reconnects too late for the log gets an error if old events were dropped.", async () => {
    const { listen, emit, eventLog } = await openStreams();
    await listen("?events=peer.added");
    emit(peerAdded("a"), peerAdded("b"), peerAdded("c"));
    eventLog.prune({ maxEvents: 1, maxBytes: 1e9, maxAgeMs: 1e9 });
    expect((await listen("?events=peer.added", backFrom("1"))).status).toBe(410);
    const kept = await listen("?events=peer.added", backFrom("2"));
    await expect.poll(() => idsOf(kept)).toEqual(["peer.added:c"]);
  });

  test("A reader that reconnects too late gets an error if the node caught up without recording events.", async () => {
    const { listen, emit, node } = await openStreams();
    await listen("?events=peer.added");
    emit(peerAdded("a"), peerAdded("b"));
    node.subscribedEvents.markGap();
    expect((await listen("?events=peer.added", backFrom("1"))).status).toBe(410);
    expect((await listen("?events=peer.added", backFrom("2"))).status).toBe(200);
  });

  test("A reader that reconnects too late gets an error although nothing but the first event after its end was recorded.", async () => {
    const { listen, emit, clock, node, stream } = await openStreams();
    const first = await listen("?events=peer.added");
    await expect.poll(first.lastId).not.toBe("");
    first.close();
    await expect.poll(() => stream.figures().open).toBe(0);
    clock.nowMs += LINGER_MS;
    for (const id of ["a", "b"]) {
      node.subscribedEvents.dropExpired();
      emit(peerAdded(id));
    }
    expect((await listen("?events=peer.added", backFrom(first.lastId()))).status).toBe(410);
  });

  test("A reader that reconnects too late for the log gets an error if its position is beyond the log.", async () => {
    const { listen } = await openStreams();
    expect((await listen("?events=peer.added", backFrom("4711"))).status).toBe(410);
  });
});

describe("a reader that starts at an old block", () => {
  test("A reader that starts at an old block receives every block since, and then new ones.", async () => {
    const { listen, emit } = await openStreams();
    const listener = await listen("?events=block.applied&fromHeight=2");
    await expect.poll(() => idsOf(listener)).toEqual(blockIds.slice(1));
    emit(applied(5));
    await expect.poll(() => idsOf(listener).at(-1)).toBe("block.applied:500");
  });

  test("A reader that starts at an old block receives no old events if the block does not exist yet.", async () => {
    const { listen, emit } = await openStreams();
    const listener = await listen("?events=block.applied&fromHeight=1000");
    emit(applied(5));
    await expect.poll(() => idsOf(listener)).toEqual(["block.applied:500"]);
  });

  test("A reader that starts at an old block receives a block that is committed while it reads.", async () => {
    const { listen, writer, eventLog, stream } = await openStreams();
    const blocks = new BlockStore(writer);
    const last = present(chain.blocks.at(-1), "the last block");
    // Removed, so that one can follow.
    writer.transaction(() => blocks.removeFrom(last.header.height));
    const listener = await listen("?events=block.applied&fromHeight=1");
    writer.transaction(() => {
      blocks.append({ ...last, headerBytes: encodeHeader(last.header, chain.network) });
      eventLog.append([applied(4, heads.head.id)]);
    });
    stream.notify();
    await expect.poll(() => idsOf(listener)).toEqual(blockIds);
  });
});
