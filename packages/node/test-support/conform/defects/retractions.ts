/** Receivers that do not cancel facts as their retractions say. */
import { SOUND } from "../receiver.ts";
import { type Defect, exchange, refusing, unless } from "./defect.ts";

export const RETRACTIONS: readonly Defect[] = [
  {
    name: "ignores retractions",
    parts: { handle: unless(({ reverts }) => reverts !== undefined) },
    fails: [
      ...["retraction", "retraction-repeated", "retraction-first", "fact-after-retraction", "applied-again"],
      ...[
        "retraction-of-other-events",
        "reorganisation",
        "retraction-after-restart",
        "late-fact-after-restart",
      ],
    ],
  },
  {
    name: "refuses a repeated retraction",
    parts: {
      refuse: refusing(409, ({ reverts }, { disk }) => reverts !== undefined && disk.retracted.has(reverts)),
    },
    fails: ["retraction-repeated"],
  },
  {
    name: "refuses a retraction of an unknown fact",
    parts: {
      refuse: refusing(404, ({ reverts }, { disk }) => reverts !== undefined && !disk.known.has(reverts)),
    },
    fails: ["retraction-unknown", "retraction-first"],
  },
  {
    name: "forgets a retraction of an unknown fact",
    parts: {
      handle: unless(({ reverts }, { disk }) => reverts !== undefined && !disk.known.has(reverts)),
    },
    fails: ["retraction-first"],
  },
  {
    name: "forgets retracted facts",
    parts: {
      handle(delivery, received) {
        SOUND.handle(delivery, received);
        const { reverts } = delivery;
        if (reverts === undefined) return;
        received.disk.known.delete(reverts);
        received.disk.retracted.delete(reverts);
      },
    },
    fails: ["retraction-first", "fact-after-retraction", "late-fact-after-restart"],
  },
  {
    name: "identifies facts by their block",
    parts: {
      handle: unless(
        ({ event, blockId, reverts }, { disk }) =>
          reverts === undefined &&
          blockId !== undefined &&
          exchange(disk, `${event} ${blockId}`, 1) !== undefined,
      ),
    },
    fails: ["applied-again"],
  },
  {
    name: "recognises two names of retractions",
    parts: {
      handle: unless(
        ({ event, reverts }) =>
          reverts !== undefined && !["block.reverted", "transaction.reverted"].includes(event),
      ),
    },
    fails: ["retraction-of-other-events"],
  },
  {
    name: "requires reverts in every revert",
    parts: {
      refuse: refusing(400, ({ event, reverts }) => event.endsWith(".reverted") && reverts === undefined),
    },
    fails: ["revert-without-fact"],
  },
  {
    name: "handles two retractions in a row",
    parts: {
      handle: unless(({ reverts }, { disk }) => {
        const row = reverts === undefined ? 0 : (disk.notes.get("row") ?? 0) + 1;
        disk.notes.set("row", row);
        return row > 2;
      }),
    },
    fails: ["reorganisation"],
  },
];
