import { type EventContents, isEvent } from "@uniknode/client";
import { expect, test } from "vitest";
import { DATA_SCHEMAS } from "../../src/events/schemas.ts";

/** The compiler requires exactly these names. */
const NAMES: Record<keyof EventContents, true> = {
  "block.applied": true,
  "block.disregarded": true,
  "block.finalized": true,
  "block.forged": true,
  "block.received": true,
  "block.reverted": true,
  "delegate.registered": true,
  "delegate.resigned": true,
  "forger.failed": true,
  "forger.missing": true,
  "forger.started": true,
  "peer.added": true,
  "peer.removed": true,
  "round.created": true,
  "round.missed": true,
  "state.started": true,
  "transaction.applied": true,
  "transaction.expired": true,
  "transaction.forged": true,
  "transaction.pool.added": true,
  "transaction.pool.rejected": true,
  "transaction.pool.removed": true,
  "transaction.reverted": true,
  "unik.disclosed": true,
  "unik.minted": true,
  "unik.transferred": true,
  "unik.updated": true,
  "wallet.created.cold": true,
  "wallet.saved": true,
  "wallet.unvote": true,
  "wallet.vote": true,
};

test("The client has a type for the content of every event.", () => {
  expect(Object.keys(NAMES).sort()).toEqual(Object.keys(DATA_SCHEMAS).sort());
  expect(isEvent({ event: "block.applied", data: {} }, "block.applied")).toBe(true);
});
