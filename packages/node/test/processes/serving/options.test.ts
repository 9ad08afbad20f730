import { dalinet } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { runOptions } from "../../../src/config/options.ts";
import { resolveConfig } from "../../../src/config/resolve.ts";
import { createHeartbeats } from "../../../src/platform/lifecycle/heartbeats.ts";
import { DEFAULT_POOL_OPTIONS } from "../../../src/pool/pool.ts";
import { servingDataOf } from "../../../src/processes/serving/options.ts";
import { createWriteLockMemory } from "../../../src/store/engine/write-lock.ts";
import { createWriteState } from "../../../src/store/engine/writes.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../../src/webhooks/webhooks.ts";

const node = {
  databasePath: "node.sqlite",
  writeLock: createWriteLockMemory(),
  writeState: createWriteState(),
  heartbeats: createHeartbeats(),
  files: dalinet,
  genesisBlock: {},
  webhookToken: "secret",
  checkpointKey: "",
  feePolicy: DEFAULT_POOL_OPTIONS.fees,
  peerPort: 4002,
  isDevChain: false,
  maxTransactionsPerRequest: 40,
};

const retentionOf = (flags: Readonly<Record<string, string>>) =>
  servingDataOf(resolveConfig(runOptions, { flags, environment: {} }), node).deliveries.retention;

test("deliveries are kept as long, and as many, as the operator says", () => {
  const { keptBlocks: _keptBlocks, ...retention } = DEFAULT_WEBHOOK_OPTIONS.retention;
  expect(retentionOf({})).toEqual(retention);
  const flags = { webhookLogDays: "2", webhookLogFailedDays: "3", webhookLogSize: "5000" };
  expect(retentionOf({ ...flags, webhookQueueSize: "4000" })).toEqual({
    maxAgeMs: 2 * 86_400_000,
    maxFailedAgeMs: 3 * 86_400_000,
    maxDeliveries: 5_000,
    maxWaiting: 4_000,
  });
});
