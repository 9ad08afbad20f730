/** Arguments of the events: `data.data` of a request (p2p.md 7 and 9). Members are exact. */
import { isIP } from "node:net";
import { formOf, refined } from "../../../platform/json/form.ts";
import { type Static, type TSchema, Type } from "../../../platform/json/schema.ts";
import { MAX_BLOCKS, MAX_COMMON_IDS, MAX_PACKED_BLOCKS } from "../limits.ts";
import { isRecord, type UntrustedRecord } from "../record.ts";
import { areTransactionsSmall } from "./transactions.ts";

const exactly = <P extends Parameters<typeof Type.Object>[0]>(members: P) =>
  Type.Object(members, { additionalProperties: false });

const nothing = exactly({});
const blockId = Type.String({ pattern: "^([0-9]{1,20}|[0-9a-fA-F]{16}|[0-9a-fA-F]{64})$" });
const ip = refined(Type.String(), (text) => isIP(text as string) !== 0);
const addressArgument = exactly({ ip });

/** Schema of every event's argument, in the order of the list of events (p2p.md 5). */
export const ARGUMENTS = {
  "p2p.peer.getPeers": nothing,
  "p2p.peer.getStatus": nothing,
  "p2p.peer.getCommonBlocks": exactly({
    ids: Type.Array(blockId, { minItems: 1, maxItems: MAX_COMMON_IDS }),
  }),
  "p2p.peer.getBlocks": exactly({
    /** The blocks after this height are requested. */
    lastBlockHeight: Type.Integer({ minimum: 1 }),
    /** `MAX_BLOCKS` if absent. */
    blockLimit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_BLOCKS })),
    headersOnly: Type.Optional(Type.Boolean()),
    /** Has no effect. */
    serialized: Type.Optional(Type.Boolean()),
  }),
  "p2p.peer.postBlock": exactly({
    block: Type.Unsafe<Uint8Array>(refined(Type.Unknown(), (value) => value instanceof Uint8Array)),
  }),
  "p2p.peer.postTransactions": exactly({
    transactions: Type.Unsafe<Record<string, unknown>[]>(refined(Type.Unknown(), areTransactionsSmall)),
  }),
  "p2p.internal.acceptNewPeer": addressArgument,
  "p2p.internal.isPeerOrForger": addressArgument,
  "p2p.internal.emitEvent": exactly({
    event: Type.String(),
    body: Type.Unsafe<UntrustedRecord>(refined(Type.Unknown(), isRecord)),
  }),
  "p2p.internal.getUnconfirmedTransactions": nothing,
  "p2p.internal.getCurrentRound": nothing,
  "p2p.internal.getNetworkState": nothing,
  "p2p.internal.getRateLimitStatus": exactly({ ip, endpoint: Type.String() }),
  "p2p.internal.isBlockedByRateLimit": addressArgument,
  "p2p.internal.syncBlockchain": nothing,
  "p2p.internal.getRateLimitedEndpoints": nothing,
  /**
   * Event between Uniknode nodes, which announce it in their status: blocks after a height, as bytes
   * (decision 9).
   */
  "uniknode.peer.getBlocks": exactly({
    lastBlockHeight: Type.Integer({ minimum: 1 }),
    blockLimit: Type.Integer({ minimum: 1, maximum: MAX_PACKED_BLOCKS }),
  }),
  "uniknode.peer.getGenesis": nothing,
} satisfies Readonly<Record<string, TSchema>>;

/** Name of an event that a client may send. */
export type EventName = keyof typeof ARGUMENTS;

export type ArgumentOf<E extends EventName> = Static<(typeof ARGUMENTS)[E]>;

export const isEventName = (text: string): text is EventName => Object.hasOwn(ARGUMENTS, text);

/** Returns true for events that only trusted addresses may send. */
export const isInternal = (event: EventName): boolean => event.startsWith("p2p.internal.");

const forms = Object.fromEntries(
  Object.entries<TSchema>(ARGUMENTS).map(([event, schema]) => [event, formOf(schema)]),
) as Readonly<Record<EventName, ReturnType<typeof formOf>>>;

export const isArgumentOf = <E extends EventName>(event: E, value: unknown): value is ArgumentOf<E> =>
  forms[event].is(value);

/** Describes the first violation of an argument. */
export const argumentViolation = (event: EventName, value: unknown): string => forms[event].violation(value);
