/** Receivers that repeat effects, or depend on the order of deliveries. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "@uniknode/client";
import { apply, type Received, SOUND } from "../receiver.ts";
import { type Defect, exchange, refusing, unless } from "./defect.ts";

const epochOf = ({ headers }: Received): number | undefined =>
  headers["webhook-epoch"] === undefined ? undefined : Number(headers["webhook-epoch"]);

const sequenceOf = ({ headers }: Received): number | undefined =>
  headers["webhook-sequence"] === undefined ? undefined : Number(headers["webhook-sequence"]);

export const REPETITION: readonly Defect[] = [
  {
    name: "does not deduplicate",
    parts: {
      handle(delivery, received) {
        if (delivery.reverts === undefined) received.disk.known.delete(delivery.id);
        return SOUND.handle(delivery, received);
      },
    },
    fails: [
      ...[
        "duplicate",
        "late-duplicate",
        "concurrent-duplicate",
        "changed-proof",
        "duplicate-new-epoch",
        "former-worker",
        "replay",
      ],
      "duplicate-after-restart",
    ],
  },
  {
    name: "keeps the last ten ids",
    parts: {
      handle(delivery, received) {
        const { known } = received.disk;
        SOUND.handle(delivery, received);
        for (const id of [...known].slice(0, -10)) known.delete(id);
      },
    },
    fails: ["late-duplicate"],
  },
  {
    name: "looks for the id before it applies the fact",
    parts: {
      async handle(delivery, received) {
        const isKnown = received.disk.known.has(delivery.id);
        await sleep(20);
        if (!isKnown) received.disk.known.delete(delivery.id);
        await SOUND.handle(delivery, received);
      },
    },
    fails: ["concurrent-duplicate"],
  },
  {
    name: "recognises deliveries by their bytes",
    parts: {
      handle(delivery, received) {
        const isNew = exchange(received.disk, received.body.toString(), 1) === undefined;
        if (isNew && delivery.reverts === undefined) received.disk.known.delete(delivery.id);
        return SOUND.handle(delivery, received);
      },
    },
    fails: ["changed-proof"],
  },
  {
    name: "identifies deliveries by id and epoch",
    parts: {
      handle: unless((delivery, received) => repeatsFor(delivery, received, (epoch, last) => epoch !== last)),
    },
    fails: ["duplicate-new-epoch", "former-worker"],
  },
  {
    name: "repeats deliveries of lower epochs",
    parts: {
      handle: unless((delivery, received) => repeatsFor(delivery, received, (epoch, last) => epoch < last)),
    },
    fails: ["former-worker"],
  },
  {
    name: "requires an epoch after another one",
    parts: {
      refuse: refusing(409, (_, received) => {
        const { memory, socket } = received;
        const epoch = epochOf(received);
        if (epoch !== undefined) memory.notes.set(socket, epoch);
        return epoch === undefined && memory.notes.has(socket);
      }),
    },
    fails: ["without-epoch"],
  },
  {
    name: "ignores lower sequences than the last one",
    parts: {
      handle: unless((_, received) => {
        const { memory, socket } = received;
        const sequence = sequenceOf(received) ?? 0;
        const last = memory.notes.get(socket) ?? 0;
        memory.notes.set(socket, Math.max(last, sequence));
        return sequence < last;
      }),
    },
    fails: ["disorder", "replay"],
  },
  {
    name: "waits for missing sequences",
    parts: {
      refuse: refusing(503, (_, received) => {
        const sequence = sequenceOf(received);
        if (sequence === undefined) return false;
        const last = exchange(received.disk, "sequence", sequence);
        return last !== undefined && sequence > last + 50;
      }),
    },
    fails: ["sequence-gap"],
  },
];

/** Applies a known fact again if its epoch differs from the last one as the test says. */
function repeatsFor(
  { id, reverts, ...delivery }: Delivery,
  received: Received,
  isRepeated: (epoch: number, last: number) => boolean,
): boolean {
  const epoch = epochOf(received);
  if (reverts !== undefined || epoch === undefined) return false;
  const last = exchange(received.disk, id, epoch);
  const { disk } = received;
  if (last === undefined || disk.retracted.has(id) || !isRepeated(epoch, last)) return false;
  apply({ id, ...delivery }, disk);
  return true;
}
