/**
 * Real events of every name: those of a vector chain that extends and reverts, and those of a node that runs
 * it.
 */
import { join } from "node:path";
import type { BlockHeader } from "@uniknode/protocol";
import { eventOfArrival } from "../../src/events/block-events.ts";
import { EVENTS, type Event, loggedName } from "../../src/events/catalogue.ts";
import {
  eventOfForgerFailure,
  eventOfForgerStart,
  eventOfPeer,
  eventOfStart,
  eventsOfForging,
  type PeerView,
} from "../../src/events/node-events.ts";
import { present } from "../../src/platform/present.ts";
import { type Rejected, toPublicEvent } from "../../src/pool/events.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { blocksOf, openChain, readChain, temporaryFolder } from "../chain/fixtures.ts";

const AT_MS = 1_795_223_920_119;

/** Events in the order in which they happened; events of the node come last. */
export async function eventsOfChain(name: string): Promise<Event[]> {
  const folder = temporaryFolder();
  const content = readChain(name);
  const { chain, database, close } = openChain(content, join(folder.path, "node.sqlite"), {
    recordedNames: new Set(Object.keys(EVENTS).map(loggedName)),
  });
  try {
    await chain.accept(blocksOf(content));
    const head = chain.head();
    const full = present(
      Array.from({ length: head.height }, (_, index) => present(chain.blocks.block(index + 1))).findLast(
        ({ transactions }) => transactions.length > 0,
      ),
    );
    await chain.revertTo(1);
    const logged = new EventLog(database, { recordedNames: () => new Set() }).read(0, 1_000_000);
    const [first] = full.transactions;
    const low: Rejected = { transaction: present(first), code: "ERR_LOW_FEE", message: "the fee is too low" };
    return [
      ...logged.map(({ sequence: _sequence, createdMs: _createdMs, ...event }) => event),
      eventOfArrival(full, "received"),
      eventOfArrival(full, "disregarded"),
      ...eventsOfForging(full, () => true),
      eventOfForgerStart([head.generatorPublicKey], AT_MS),
      eventOfForgerFailure(new Error("the database is locked"), AT_MS),
      eventOfPeer(peerAt(head), "added", AT_MS),
      eventOfPeer(peerAt(head), "removed", AT_MS),
      eventOfStart(AT_MS),
      toPublicEvent({ name: "transaction.pool.added", transactions: full.transactions }),
      toPublicEvent({ name: "transaction.pool.rejected", rejected: [low] }),
      toPublicEvent({ name: "transaction.pool.removed", transaction: present(first) }),
      toPublicEvent({ name: "transaction.expired", transaction: present(first) }),
    ];
  } finally {
    await close();
    folder.remove();
  }
}

const peerAt = (head: BlockHeader): PeerView => ({
  ip: "203.0.113.7",
  port: 4001,
  ports: { "@arkecosystem/core-api": 4003 },
  version: "5.7.2",
  latencyMs: 37,
  plugins: { "@arkecosystem/core-api": { port: 4003, enabled: true } },
  state: { height: head.height, forgingAllowed: true, currentSlot: 38_140_360, header: head },
  lastPingedMs: AT_MS,
  verification: {
    myHeight: head.height,
    hisHeight: head.height,
    highestCommonHeight: head.height,
  },
});
