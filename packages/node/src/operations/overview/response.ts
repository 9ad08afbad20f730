/** Response with the state of the node. */

import { Timestamp } from "../../http/responses/timestamp.ts";
import { type Static, Type } from "../../platform/json/schema.ts";

const count = Type.Integer({ minimum: 0 });
const counts = (description: string) => Type.Record(Type.String(), count, { description });
const orNull = <S extends ReturnType<typeof Type.Object>>(schema: S) => Type.Union([schema, Type.Null()]);

/** State of the node by part, for operators. */
export const NodeOverview = Type.Object(
  {
    version: Type.String(),
    protocol: Type.String({
      description: "Version of the old software that the node is compatible with.",
    }),
    uptimeSeconds: count,
    ready: Type.Boolean(),
    checks: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), detail: Type.String() })),
    chain: orNull(
      Type.Object({
        height: count,
        headAgeSeconds: Type.Integer({ description: "Network time since the head was forged." }),
        blocksBehind: Type.Integer({ description: "Number of blocks that the node is behind the network." }),
        synced: Type.Boolean(),
        progress: Type.Optional(
          Type.Object({
            target: count,
            percent: Type.Number(),
            blocksPerSecond: Type.Number(),
            secondsLeft: Type.Optional(Type.Number()),
          }),
        ),
      }),
    ),
    pool: orNull(
      Type.Object({
        transactions: count,
        bytes: count,
        admitting: Type.Integer({ description: "Transactions being admitted." }),
        refused: counts("Transactions refused since the process started, by reason."),
      }),
    ),
    peers: orNull(
      Type.Object({
        known: count,
        receivedBytes: count,
        sentBytes: count,
        inbound: Type.Optional(
          Type.Object(
            {
              sessions: count,
              handshakes: count,
              banned: count,
              refused: counts("Refused connections, by reason."),
              cut: counts("Closed connections, by reason."),
              evicted: count,
              postsDropped: counts("Broadcasts that were not sent, by content."),
            },
            { description: "Limits of the peer port. Absent if the node has no peers." },
          ),
        ),
      }),
    ),
    processes: Type.Array(
      Type.Object({
        kind: Type.Enum(["mirror", "server", "worker"]),
        address: Type.String(),
        name: Type.Optional(
          Type.String({ description: "Host and port of an API server, or name of a worker." }),
        ),
        height: Type.Optional(Type.Integer({ description: "Last block of its database." })),
        blocksBehind: Type.Optional(
          Type.Integer({ description: "Number of blocks that it is behind this node." }),
        ),
        lastSeenSeconds: Type.Integer({ description: "Seconds since its last call." }),
      }),
      {
        description:
          "Mirrors, API servers and delivery workers that have used the feed or the gateway of this node within the last hour; at most 100.",
      },
    ),
    forger: Type.Object({
      delegates: Type.Array(
        Type.Object({
          publicKey: Type.String(),
          lastForged: Type.Optional(
            Type.Object({ slot: count, timestamp: Timestamp, blockId: Type.String() }),
          ),
        }),
        { description: "Delegates that this node forges for." },
      ),
      slots: orNull(
        Type.Object({
          forged: count,
          missed: count,
          refused: counts("Slots that were not signed, by reason."),
          keysUsedElsewhere: count,
        }),
      ),
      lastMissed: Type.Array(
        Type.Object({ publicKey: Type.String(), slot: count, timestamp: Timestamp, reason: Type.String() }),
        { description: "The latest missed slots of these delegates, newest first; at most 100." },
      ),
    }),
    disk: Type.Object({
      freeBytes: Type.Optional(count),
      failedWrites: count,
      problem: Type.Optional(Type.String({ description: "Reason why the last write failed." })),
    }),
    memory: Type.Object({ residentBytes: count, heapBytes: Type.Optional(count) }),
  },
  {
    title: "NodeOverview",
    description: "`chain`, `pool`, `peers` and `slots` are null while the consensus thread does not respond.",
  },
);
export type NodeOverview = Static<typeof NodeOverview>;
