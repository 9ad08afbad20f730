/** Parts of `/node/configuration` that mirrors read from their node: the fee policy, and the preset of the network. */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { FeePolicy } from "../../pool/pool-options.ts";

export const DynamicFees = Type.Object({
  enabled: Type.Boolean(),
  minFeePool: Type.Optional(Type.Integer()),
  minFeeBroadcast: Type.Optional(Type.Integer()),
  addonBytes: Type.Optional(Type.Record(Type.String(), Type.Integer())),
});

/** Returns the response for a fee policy. Without dynamic fees, it omits their values. */
export const dynamicFeesFrom = ({
  dynamic,
  minFeePool,
  minFeeBroadcast,
  addonBytes,
}: FeePolicy): Static<typeof DynamicFees> =>
  dynamic ? { enabled: true, minFeePool, minFeeBroadcast, addonBytes } : { enabled: false };

/** Returns the fee policy of a node from its response. Without dynamic fees, their values are 0. */
export const feePolicyFrom = ({
  enabled,
  minFeePool = 0,
  minFeeBroadcast = 0,
  addonBytes = {},
}: Static<typeof DynamicFees>): FeePolicy => ({ dynamic: enabled, minFeePool, minFeeBroadcast, addonBytes });

const anyMembers = Type.Record(Type.String(), Type.Unknown());

/** Preset of a network: its files, and its genesis block. */
export const CryptoConfiguration = Type.Object(
  {
    exceptions: Type.Unsafe<object>(anyMembers),
    genesisBlock: anyMembers,
    milestones: Type.Unsafe<readonly object[]>(Type.Array(anyMembers)),
    network: Type.Unsafe<object>(anyMembers),
  },
  { title: "CryptoConfiguration" },
);
