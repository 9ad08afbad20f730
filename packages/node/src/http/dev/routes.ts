/** The commands of the dev chain over HTTP, which require the token of the webhook register (docs/guides/dev-chain.md). */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { BlockReference, DevCommand, DevErrorCode, DevResult, Gateway } from "../../gateway/gateway.ts";
import { type Static, type TSchema, Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { blockId, Timestamp, type TimestampOf } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { body, distinct } from "../requests/list-schemas.ts";
import { hex64 } from "../requests/parameters.ts";
import type { Access } from "../webhooks/access.ts";
import { type AccountList, addAccountRoute, DEV_REFUSALS, WITH_TOKEN } from "./accounts.ts";
import { addFailureRoutes, type Receivers } from "./failures.ts";

/** Maximum of blocks per request. */
const MAX_BLOCKS = 1_000;
const MAX_SECONDS = 1e10;
/** Maximum of transactions that a branch omits: as many as a block can have. */
const MAX_LEFT_OUT = 500;
/** Timeout of responses: forging many blocks takes longer than other requests. */
const RESPONSE_TIMEOUT_MS = 28_000;

const count = Type.Integer({ minimum: 1, maximum: MAX_BLOCKS });
const seconds = Type.Integer({ minimum: 1, maximum: MAX_SECONDS });

const BODIES = {
  mine: body({ blocks: Type.Optional(count) }),
  reorg: body({
    depth: count,
    blocks: Type.Optional(count),
    transactions: Type.Optional(Type.Boolean()),
    without: Type.Optional(distinct(hex64, MAX_LEFT_OUT)),
  }),
  snapshot: body({}),
  restore: body({ id: hex64 }),
  travel: body({ seconds: Type.Optional(seconds), to: Type.Optional(seconds) }),
  forge: body({ enabled: Type.Boolean() }),
};

const Block = Type.Object(
  { height: Type.Integer({ minimum: 1 }), id: blockId, timestamp: Timestamp },
  { title: "BlockReference" },
);
const State = Type.Object(
  {
    head: Block,
    reverted: Type.Array(Block, { description: "Blocks that were reverted, by descending height." }),
    applied: Type.Array(Block, { description: "Blocks that were applied, by ascending height." }),
    now: Timestamp,
    forging: Type.Boolean({ description: "Whether the chain forges automatically." }),
  },
  { title: "DevState" },
);
const Snapshot = Type.Object(
  { id: Type.String({ description: "For `restore`." }), ...State.properties },
  { title: "DevSnapshot" },
);

/** Errors of the chain that are passed on to the client. */
const CODES: readonly (DevErrorCode | "CHAIN_UNDO_MISSING")[] = [
  "DEV_ONLY",
  "DEV_STARTING",
  "DEV_DEPTH",
  "DEV_BRANCH",
  "DEV_SNAPSHOT",
  "DEV_TIME",
  "DEV_DELEGATES",
  "CHAIN_UNDO_MISSING",
];

type DevRoutesDependencies = {
  readonly gateway: Pick<Gateway, "dev">;
  readonly timestampOf: TimestampOf;
  /** Receivers of webhooks; undefined on a node that is not a dev chain or has no webhooks. */
  readonly receivers: Receivers | undefined;
  /** Accounts; undefined on a node that is not a dev chain. */
  readonly accounts: AccountList | undefined;
};

/** Creates the plugin for each prefix of the commands; its errors are `HttpError`s. */
export function createDevRoutes(
  access: Access,
  { gateway, timestampOf, receivers, accounts }: DevRoutesDependencies,
): FastifyPluginAsync {
  const run: Run = async (command) => toState(await runCommand(gateway, command), timestampOf);

  return async (scope: FastifyInstance) => {
    const app = scope as unknown as Server;
    app.addHook("onRequest", access);
    app.addHook("preValidation", (request, _reply, done) => {
      request.body ??= {};
      done();
    });
    addMine(app, run);
    addReorg(app, run);
    addSnapshot(app, run);
    addRestore(app, run);
    addTravel(app, run);
    addForge(app, run);
    addFailureRoutes(app, receivers);
    addAccountRoute(app, accounts);
  };
}

/** Runs a command; returns the state of the chain after it. */
type Run = (command: DevCommand) => Promise<Static<typeof State>>;

function addMine(app: Server, run: Run): void {
  app.post(
    "/dev/mine",
    route("Forges blocks with the pending transactions.", BODIES.mine),
    async ({ body: { blocks = 1 } }) => ({ data: await run({ name: "mine", blocks }) }),
  );
}

function addReorg(app: Server, run: Run): void {
  app.post(
    "/dev/reorg",
    route("Replaces the top blocks with another branch.", BODIES.reorg),
    async ({ body: { transactions = false, without, ...branch } }) => {
      if (without && !transactions) {
        throw new HttpError(
          "INVALID_MEMBER",
          '"without" requires "transactions": true, because the branch has no transactions otherwise',
        );
      }
      const leftOut = without && { leftOut: without };
      return { data: await run({ name: "reorg", ...branch, withTransactions: transactions, ...leftOut }) };
    },
  );
}

function addSnapshot(app: Server, run: Run): void {
  const snapshot = route("Creates a snapshot of the head that can be restored.", BODIES.snapshot, Snapshot);
  app.post("/dev/snapshot", snapshot, async () => {
    const state = await run({ name: "snapshot" });
    return { data: { id: state.head.id, ...state } };
  });
}

function addRestore(app: Server, run: Run): void {
  app.post(
    "/dev/restore",
    route("Reverts to a block and drops pending transactions.", BODIES.restore),
    async ({ body: { id } }) => ({ data: await run({ name: "restore", id }) }),
  );
}

function addTravel(app: Server, run: Run): void {
  app.post(
    "/dev/travel",
    route("Moves the clock forward by seconds, or to a time.", BODIES.travel),
    async ({ body: { seconds, to } }) => {
      if (seconds !== undefined && to === undefined) return { data: await run({ name: "travel", seconds }) };
      if (seconds === undefined && to !== undefined) return { data: await run({ name: "travel", to }) };
      throw new HttpError("MISSING_MEMBER", 'one of "seconds" and "to" is required, but not both');
    },
  );
}

function addForge(app: Server, run: Run): void {
  app.post(
    "/dev/forge",
    route("Enables or disables automatic forging.", BODIES.forge),
    async ({ body: { enabled } }) => ({ data: await run({ name: "forge", isEnabled: enabled }) }),
  );
}

function runCommand(gateway: Pick<Gateway, "dev">, command: DevCommand): Promise<DevResult> {
  return gateway.dev(command).catch((error: Error & { code?: string }) => {
    const code = CODES.find((code) => code === error.code);
    throw code === undefined ? error : new HttpError(code, error.message);
  });
}

function toState(
  { head, reverted, applied, now, isForging }: DevResult,
  timestampOf: TimestampOf,
): Static<typeof State> {
  const show = ({ height, id, timestamp }: BlockReference) => ({
    height,
    id,
    timestamp: timestampOf(timestamp),
  });
  return {
    head: show(head),
    reverted: reverted.map(show),
    applied: applied.map(show),
    now: timestampOf(now),
    forging: isForging,
  };
}

const REFUSALS = { ...DEV_REFUSALS, 409: "The state of the chain does not allow it." };

const route = <B extends TSchema>(summary: string, body: B, response: TSchema = State) => ({
  schema: described("Dev", summary, single(response), { ...WITH_TOKEN, body }, REFUSALS),
  // A body without members may be omitted; the schema reports required members.
  config: { isBodyOptional: true, responseTimeoutMs: RESPONSE_TIMEOUT_MS },
});
