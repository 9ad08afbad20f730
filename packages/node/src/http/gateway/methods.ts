/** The calls that other machines can make, with the schemas of their parameters. */
import { EVENTS } from "../../events/catalogue.ts";
import type { RemoteGateway, RemoteMethod } from "../../gateway/gateway.ts";
import { type Static, type TSchema, Type } from "../../platform/json/schema.ts";
import { body, distinct } from "../requests/bodies.ts";
import { hex64 } from "../requests/parameters.ts";

const NAMES = Object.keys(EVENTS);
/** Highest value of `--pool-max-per-request`; the node checks its own limit. */
const MAX_TRANSACTIONS = 1_000;
const MAX_ID_LENGTH = 64;
/** A cursor of the public API can contain any text of this length. */
const MAX_AFTER_LENGTH = 2_048;
const MAX_PAGE = 100;
const MAX_BLOCKS = 1_000;
const MAX_SECONDS = 1e10;
/** Maximum of transactions that a branch omits: as many as a block can have. */
const MAX_LEFT_OUT = 500;

export type RemoteCall = {
  readonly parameters: TSchema;
  /** @param parameters validated by the schema */
  call(gateway: RemoteGateway, parameters: unknown, source: string | undefined): Promise<unknown>;
};

/** The compiler compares the schema with the parameters of the method. */
const define = <S extends TSchema>(
  parameters: S,
  call: (gateway: RemoteGateway, parameters: Static<S>, source: string | undefined) => Promise<unknown>,
): RemoteCall => ({
  parameters,
  call: (gateway, given, source) => call(gateway, given as Static<S>, source),
});

const id = Type.String({ maxLength: MAX_ID_LENGTH });
const uint = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const count = Type.Integer({ minimum: 1, maximum: MAX_BLOCKS });
const seconds = Type.Integer({ minimum: 1, maximum: MAX_SECONDS });
const nothing = body({});

const devCommand = Type.Union([
  body({ name: Type.Literal("mine"), blocks: count }),
  body({
    name: Type.Literal("reorg"),
    depth: count,
    blocks: Type.Optional(count),
    withTransactions: Type.Boolean(),
    leftOut: Type.Optional(distinct(hex64, MAX_LEFT_OUT)),
  }),
  body({ name: Type.Literal("snapshot") }),
  body({ name: Type.Literal("restore"), id: hex64 }),
  body({ name: Type.Literal("travel"), seconds }),
  body({ name: Type.Literal("travel"), to: seconds }),
  body({ name: Type.Literal("forge"), isEnabled: Type.Boolean() }),
]);

export const REMOTE_CALLS: Readonly<Record<RemoteMethod, RemoteCall>> = {
  submit: define(
    body({ transactions: Type.Array(Type.Unknown(), { maxItems: MAX_TRANSACTIONS }) }),
    (gateway, { transactions }, source) => gateway.submit(transactions, source),
  ),
  pendingTransactions: define(
    body({
      offset: uint,
      limit: Type.Integer({ minimum: 0, maximum: MAX_PAGE }),
      afterId: Type.Optional(Type.String({ maxLength: MAX_AFTER_LENGTH })),
    }),
    (gateway, range) => gateway.pendingTransactions(range),
  ),
  pendingTransaction: define(body({ id }), (gateway, { id }) => gateway.pendingTransaction(id)),
  status: define(nothing, (gateway) => gateway.status()),
  peers: define(nothing, (gateway) => gateway.peers()),
  report: define(nothing, (gateway) => gateway.report()),
  recordEvents: define(body({ names: distinct(Type.Enum(NAMES), NAMES.length) }), (gateway, { names }) =>
    gateway.recordEvents(names),
  ),
  replaceRemoteNames: define(
    body({ names: Type.Array(Type.Enum(NAMES), { maxItems: NAMES.length, uniqueItems: true }) }),
    (gateway, { names }) => gateway.replaceRemoteNames(names),
  ),
  dev: define(devCommand, (gateway, command) => gateway.dev(command)),
};
