/** Receivers that lose what they must store. */
import { apply, cancel, SOUND } from "../receiver.ts";
import { type Defect, unless } from "./defect.ts";

export const RESTARTS: readonly Defect[] = [
  {
    name: "stores everything in memory",
    parts: {
      handle: (delivery, received) => SOUND.handle(delivery, { ...received, disk: received.memory }),
      view: (_, memory) => memory,
    },
    fails: ["kept-after-restart", "retraction-after-restart", "late-fact-after-restart"],
  },
  {
    name: "stores ids in memory",
    parts: {
      handle(delivery, { disk, memory }) {
        if (delivery.reverts !== undefined) cancel(delivery.reverts, disk);
        else if (!memory.known.has(delivery.id) && !disk.retracted.has(delivery.id)) {
          memory.known.add(delivery.id);
          apply(delivery, disk);
        }
      },
    },
    fails: ["duplicate-after-restart"],
  },
  {
    name: "finds retracted facts in memory",
    parts: {
      handle: unless(({ id, reverts }, { disk, memory }) => {
        const isLost = reverts !== undefined && disk.known.has(reverts) && !memory.known.has(reverts);
        memory.known.add(id);
        return isLost;
      }),
    },
    fails: ["retraction-after-restart"],
  },
  {
    name: "stores retractions in memory",
    parts: {
      handle(delivery, { disk, memory }) {
        const { id, reverts } = delivery;
        if (reverts !== undefined) {
          memory.retracted.add(reverts);
          disk.known.delete(reverts);
          disk.facts = disk.facts.filter((fact) => fact.id !== reverts);
        } else if (!disk.known.has(id) && !memory.retracted.has(id)) apply(delivery, disk);
      },
    },
    fails: ["late-fact-after-restart"],
  },
];
