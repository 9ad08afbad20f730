/**
 * A node with the data of a recorded node. Its replies are built by our code from the blocks, transactions and wallets of
 * the recording; only replies that do not show their origin are repeated as recorded.
 */
import type { StateReader, Wallet } from "@uniknode/ledger";
import {
  type BlockHeader,
  createRounds,
  createSlots,
  decodeHeader,
  hexToBytes,
  type Network,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import { pino } from "pino";
import { BlockObservations } from "../../packages/node/src/peers/block-broadcast.ts";
import { RateLimits } from "../../packages/node/src/peers/guards/rate-limits.ts";
import { InboundBlocks } from "../../packages/node/src/peers/inbound-blocks.ts";
import { encodedHeaderFromPeer, headerFromPeer } from "../../packages/node/src/peers/peer-table.ts";
import { BlockHandlers, ForgerHandlers } from "../../packages/node/src/peers/requests/handlers.ts";
import { buildStatus, createRequestHandler } from "../../packages/node/src/peers/requests/server.ts";
import { ReplyError, type RequestHandler } from "../../packages/node/src/peers/transport/calls.ts";
import type { Call } from "../../packages/node/src/peers/wire/client-messages.ts";
import type { EventName } from "../../packages/node/src/peers/wire/events.ts";

// biome-ignore lint/suspicious/noExplicitAny: recordings are trusted to have the shape of the protocol
type Content = any;

export type Recorded = { rid?: number; data?: Content; error?: { message: string } };

/** Events whose recorded replies are repeated. */
const REPEATED: readonly EventName[] = [
  "p2p.internal.getNetworkState",
  "p2p.internal.isPeerOrForger",
  "p2p.internal.isBlockedByRateLimit",
  "p2p.internal.getRateLimitStatus",
];

const logger = pino({ level: "silent" });

/** @param messages of the recorded server, including replies to calls */
export const recordedNode =
  (messages: readonly Recorded[], network: Network): RequestHandler =>
  async (call, caller) => {
    const { data, error } =
      messages.find(({ rid }) => call.callId !== undefined && rid === call.callId) ?? {};
    if (REPEATED.includes(call.event)) {
      if (error) throw new ReplyError(error.message);
      return data?.data ?? {};
    }
    return replyTo(call, { result: data?.data, error: error?.message ?? "" }, network)(call, caller);
  };

type Reply = { readonly result: Content; readonly error: string };

function replyTo(call: Call, reply: Reply, network: Network): RequestHandler {
  const { result } = reply;
  const slots = createSlots(network);
  const time = timeOf(call, reply, network);
  const head = headOf(call, reply, network);
  const shared: Shared = {
    network,
    slots,
    rounds: createRounds(network),
    state: stateOf(result),
    head: () => head,
    nowMs: () => slots.unixMsOf(time),
  };
  const forged: readonly Content[] = Array.isArray(result) ? result : [];
  return createRequestHandler({
    blocks: new BlockHandlers({ head: shared.head, blocks: storedBlocks(result, forged, network) }),
    forger: new ForgerHandlers({
      ...shared,
      pool: {
        size: () => result.poolSize,
        select: () => result.transactions.map((hex: string) => ({ bytes: hexToBytes(hex) })),
      },
    }),
    inboundBlocks: inboundBlocks(shared),
    inboundTransactions: { post: () => {} },
    rateLimits: new RateLimits({ eventsPerSecond: 100, exempt: new Set() }),
    status: () =>
      buildStatus({
        ...{ network, slots, head: shared.head },
        now: () => time,
        processId: "",
        version: result.config.version,
        plugins: result.config.plugins,
      }),
    peers: () => forged.map(({ ip }) => ip),
    isPeerOrForger: () => false,
    networkState: () => Promise.reject(new Error("repeated as it was recorded")),
    triggerSync: () => {},
    onForgerEvent: () => {},
    onCaller: () => {},
    genesisBlock: {},
    isSynced: () => true,
  });
}

type Shared = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly state: StateReader;
  readonly head: () => BlockHeader;
  readonly nowMs: () => number;
};

/** The blocks of a recorded reply. */
const storedBlocks = (
  result: Content,
  forged: readonly Content[],
  network: Network,
): ConstructorParameters<typeof BlockHandlers>[0]["blocks"] => ({
  headerById: (id) => knownHeader(id, result?.common),
  bytes: (from, to) =>
    forged
      .filter(({ height }) => height >= from && height <= to)
      .map(({ transactions = [], ...header }) => ({
        height: header.height,
        id: header.id,
        header: encodedHeaderFromPeer(header, network).headerBytes,
        transactions: transactions.map(hexToBytes),
        transactionIds: [],
      })),
});

const inboundBlocks = ({ head, state, ...shared }: Shared) =>
  new InboundBlocks({
    ...shared,
    chain: { head, state, accept: async () => [{ kind: "Discarded" } as never] },
    header: () => undefined,
    observations: new BlockObservations(),
    checkForeign: () => {},
    broadcast: () => {},
    isStarted: () => true,
    onReceived: () => {},
    onDisregarded: () => {},
    onUnchained: () => {},
    ban(address, reason) {
      throw new Error(`the recorded node was content with a block of ${address}: ${reason}`);
    },
    logger,
  });

/** The head of the recorded node, as far as the reply to the call depends on it. */
function headOf({ event, argument }: Call, { result, error }: Reply, network: Network): BlockHeader {
  switch (event) {
    case "p2p.peer.getStatus":
      return result ? headerFromPeer(result.state.header, network) : nothing;
    case "p2p.internal.getCurrentRound":
      return headerFromPeer(result.lastBlock, network);
    case "p2p.peer.getCommonBlocks":
      return { ...nothing, height: result?.lastBlockHeight ?? 1 };
    case "p2p.peer.getBlocks":
      return { ...nothing, height: result?.at(-1)?.height ?? argument.lastBlockHeight };
    case "p2p.peer.postBlock": {
      const { header } = decodeHeader(argument.block, network);
      const { height, previousBlock: id, timestamp } = header;
      const downloaded = /cannot be chained to (\d+)/.exec(error)?.[1];
      return downloaded === undefined
        ? { ...nothing, height: height - 1, id, timestamp: timestamp - BLOCKTIME }
        : { ...nothing, height: Number(downloaded), id: "another one" };
    }
    default:
      return nothing;
  }
}

const BLOCKTIME = 8;
const nothing = { height: 1, id: "", timestamp: 0 } as BlockHeader;

/** Returns the network time of the recorded reply if the reply shows it, or else a time at which the reply is correct. */
function timeOf({ event, argument }: Call, { result }: Reply, network: Network): number {
  if (event === "p2p.peer.getStatus" && result) {
    const { currentSlot, forgingAllowed } = result.state;
    return currentSlot * BLOCKTIME + (forgingAllowed ? 0 : BLOCKTIME / 2);
  }
  if (event === "p2p.internal.getCurrentRound")
    return result.timestamp + (result.canForge ? BLOCKTIME - 1 : 0);
  if (event === "p2p.peer.postBlock") return decodeHeader(argument.block, network).header.timestamp;
  return 0;
}

/** Returns a header for each requested block if the reply is a complete header, otherwise only for the block of the reply. */
function knownHeader(id: string, common: Content): BlockHeader | undefined {
  if (id === common?.id) return bigAmounts(common);
  return common?.blockSignature === undefined
    ? undefined
    : { ...bigAmounts(common), id, height: common.height - 1 };
}

const bigAmounts = ({ totalAmount = 0, totalFee = 0, reward = 0, ...header }: Content): BlockHeader => ({
  ...header,
  totalAmount: BigInt(totalAmount),
  totalFee: BigInt(totalFee),
  reward: BigInt(reward),
});

/** Wallets and the round of a recorded `getCurrentRound`. */
function stateOf(result: Content): StateReader {
  const delegates: readonly Content[] = result?.delegates ?? [];
  const wallets = new Map<string, Wallet>(
    delegates.map((wallet) => [
      wallet.address,
      { ...wallet, balance: BigInt(wallet.balance), nonce: BigInt(wallet.nonce) },
    ]),
  );
  const order = delegates.length > 0 ? { order: delegates.map(({ publicKey }) => publicKey) } : undefined;
  const get = (table: string, key: string) =>
    table === "wallets" ? wallets.get(key) : table === "rounds" ? order : undefined;
  return { get } as StateReader;
}
