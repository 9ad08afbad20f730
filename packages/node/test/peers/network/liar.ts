/** Peers with invented replies, based on the status of an honest node. */
import { type BlockHeader, forgeBlock, headerToJson, type KeyPair, type Network } from "@uniknode/protocol";
import { pino } from "pino";
import { RateLimits } from "../../../src/peers/guards/rate-limits.ts";
import { ReplyError } from "../../../src/peers/transport/calls.ts";
import { connectPeer } from "../../../src/peers/transport/connection.ts";
import { PeerServer } from "../../../src/peers/transport/server.ts";
import type { ArgumentOf, EventName } from "../../../src/peers/wire/events.ts";
import { noCommonBlocks } from "../../../src/peers/wire/server-messages.ts";
import { present } from "../../../src/platform/present.ts";
import { addressOf, type World } from "../../../test-support/peers/world.ts";

const LIMITS = { timeoutMs: 10_000, maxBytes: 20_000_000 };

/** Sends a request to a node from an address; undefined if there is no reply. */
export async function askFrom<E extends EventName>(
  world: World,
  [from, to]: readonly [string, string],
  event: E,
  argument: ArgumentOf<E>,
): Promise<unknown> {
  const connection = await connectPeer({ address: to, port: world.port, localAddress: from }).catch(
    () => undefined,
  );
  const reply = await connection?.call(event, argument, LIMITS).catch(() => undefined);
  connection?.close();
  return reply?.result;
}

/** Next header after another, in the next slot, signed with given keys. */
export const madeUp = (network: Network, previous: BlockHeader, keys: KeyPair): BlockHeader =>
  forgeBlock({ network, timestamp: previous.timestamp + 2, previous, transactions: [] }, keys).header;

export type Liar = {
  readonly host: string;
  /** Names of the received events. */
  readonly requested: string[];
  close(): Promise<void>;
};

/** Read again for each reply. */
export type Lies = {
  /** Status of the honest node; its height and head are replaced. */
  readonly status: { readonly state: object; readonly config: object };
  readonly head: BlockHeader;
  /** Common block with every node. */
  readonly common: BlockHeader;
  /** Headers after a height, for a verification or as blocks without transactions. */
  readonly headersAfter: (height: number, isVerified: boolean) => readonly BlockHeader[];
};

export async function startLiar(world: World, host: string, lies: Lies): Promise<Liar> {
  const { uniknode: _, ...config } = lies.status.config as Record<string, unknown>;
  const requested: string[] = [];

  type Argument = { ids?: readonly string[]; lastBlockHeight?: number; headersOnly?: boolean };
  function replyTo(event: string, argument: Argument): unknown {
    const { status, head, common } = lies;
    switch (event) {
      case "p2p.peer.getStatus":
        return { state: { ...status.state, height: head.height, header: headerToJson(head) }, config };
      case "p2p.peer.getCommonBlocks":
        if (!present(argument.ids).includes(common.id)) throw new ReplyError(noCommonBlocks());
        return { common: headerToJson(common), lastBlockHeight: head.height };
      case "p2p.peer.getBlocks":
        return lies
          .headersAfter(present(argument.lastBlockHeight), argument.headersOnly === true)
          .map(headerToJson);
      default:
        return [];
    }
  }

  const server = new PeerServer(
    { host, port: world.port, maxConnectionsPerSubnet: 50, remoteAccess: [] },
    {
      network: world.network,
      rateLimits: new RateLimits({ eventsPerSecond: 10_000, exempt: new Set([addressOf(0)]) }),
      isReady: () => true,
      replyHeaders: () => ({ version: "5.7.2", height: lies.head.height }),
      isBanned: () => false,
      isPeer: () => false,
      logger: pino({ level: "silent" }),
      async handle({ event, argument }) {
        requested.push(event);
        return replyTo(event, argument as object) as never;
      },
    },
  );
  await server.listen();
  return { host, requested, close: () => server.close() };
}
