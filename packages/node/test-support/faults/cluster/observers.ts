/**
 * Observers of a cluster during the faults: of the owners of shards and of the mirror's head, and clients that read through a load
 * balancer, each with the block of its last response; and a snapshot that is held open.
 */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiError, createClient } from "@uniknode/client";
import { createDraws } from "../../random.ts";
import type { ClusterDatabase } from "../actors/database.ts";
import type { Change } from "../checks/chronicle.ts";
import { type Background, repeat } from "../scenario.ts";

const LOOK_EVERY_MS = 150;

/** Owner of a shard, or of the head, and its position in the events. */
export type OwnerRow = {
  readonly name: string;
  readonly owner: string | null;
  readonly epoch: string;
  readonly position: string;
};

/** Height of a mirror that lost commits goes back; it is compared with its node. */
const OWNERS = `SELECT 'shard ' || shard AS name, owner, epoch, matched AS position FROM shards
  UNION ALL SELECT 'head', owner, epoch, 0 FROM head`;

/** Checks rows that are read again and again: each epoch has one owner, and nothing goes back. */
export function createOwnersCheck() {
  const faults: string[] = [];
  const owners = new Map<string, string>();
  const latest = new Map<string, { readonly epoch: number; readonly position: number }>();
  return {
    faults,
    /** Must be called with each row that is read. */
    look({ name, owner, ...row }: OwnerRow): void {
      const [epoch, position] = [Number(row.epoch), Number(row.position)];
      const before = latest.get(name) ?? { epoch, position };
      latest.set(name, { epoch, position });
      if (epoch < before.epoch) faults.push(`${name} went back from epoch ${before.epoch} to ${epoch}`);
      if (position < before.position) faults.push(`${name} went back from ${before.position} to ${position}`);
      if (owner === null) return;
      const key = `${name}, epoch ${epoch}`;
      const known = owners.get(key) ?? owner;
      owners.set(key, known);
      if (known !== owner) faults.push(`${key} had the owners ${known} and ${owner}`);
    },
  };
}

export function watchOwners(database: ClusterDatabase) {
  const check = createOwnersCheck();
  const read = async () => {
    for (const row of await database.postgres.query<OwnerRow>(OWNERS)) check.look(row);
  };
  return { ...check, ...repeat(() => LOOK_EVERY_MS, read) };
}

/** Holds a snapshot of the database open, as a long report does: vacuum keeps all rows that it can see. */
export function holdSnapshot(database: ClusterDatabase): Background {
  let isEnded = false;
  // Another snapshot follows when a fault of the database has ended the last one.
  const holding = repeat(
    () => LOOK_EVERY_MS,
    () =>
      database.postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async ({ query }) => {
        while (!isEnded) {
          await query("SELECT height FROM head");
          await sleep(LOOK_EVERY_MS);
        }
      }),
  );
  return {
    async stop() {
      isEnded = true;
      await holding.stop();
    },
  };
}

type Block = { readonly height: number; readonly id: string };
/** A response, and the block that the request demanded. */
export type Read = { readonly client: number; readonly block: Block; readonly demanded: Block | undefined };

type State = {
  readonly reads: Read[];
  readonly failures: Map<string, number>;
  readonly faults: string[];
  /** Digest of each response by its path and its block. */
  readonly digests: Map<string, string>;
};

/** Codes of failures that faults of the cluster may cause. */
const EXPECTED: ReadonlySet<string> = new Set([
  ...["API_UNREACHABLE", "API_TIMEOUT", "DATABASE_UNREACHABLE", "NODE_BUSY", "RESPONSE_LATE"],
  // While another block is awaited, after a reorganisation, and while a mirror is built again.
  ...["REPLICA_BEHIND", "BRANCH_GONE", "NODE_STARTING"],
]);
export type Readers = ReturnType<typeof startReaders>;

const CLIENTS = 4;
const PAUSE_MS = 40;

/**
 * @param url of the load balancer
 * @param address of a wallet that is read
 */
export function startReaders(url: string, address: string, seed: number) {
  const state: State = { reads: [], failures: new Map(), faults: [], digests: new Map() };
  const stopping = new AbortController();
  const running = Array.from({ length: CLIENTS }, (_, index) => {
    const client = createClient({
      ...{ url, retries: 0, timeoutMs: 15_000, signal: stopping.signal },
      fetch: (input, init) => fetchNoted(state, index + 1, input, init),
    });
    const random = createDraws(seed + index + 1);
    const requests: (() => Promise<unknown>)[] = [
      () => client.blockchain.get(),
      () => client.wallets.get(address),
      () => client.blocks.list().page({ limit: 5 }),
      () => client.delegates.list().page({ limit: 5 }),
    ];
    const read = () =>
      random
        .pick(requests)()
        .catch(({ nodeCode, code }: ApiError) => {
          if (!stopping.signal.aborted) noteFailure(state, nodeCode ?? code);
        });
    return repeat(() => PAUSE_MS, read);
  });
  return {
    faults: state.faults,
    /** Number of successful responses, and of the others by code. */
    figures: () => ({ reads: state.reads.length, ...Object.fromEntries(state.failures) }),
    async stop() {
      stopping.abort();
      await Promise.all(running.map((each) => each.stop()));
    },
    /** Compares the responses with the blocks of the node. Returns descriptions of failures. */
    judge: (changes: readonly Change[]) => judgeReads(state.reads, changes),
  };
}

function noteFailure({ failures, faults }: State, code: string): void {
  const count = (failures.get(code) ?? 0) + 1;
  failures.set(code, count);
  if (count === 1 && !EXPECTED.has(code)) faults.push(`a client received ${code}`);
}

/** Requests as `fetch`, and notes the response. */
async function fetchNoted(
  state: State,
  client: number,
  ...[input, init]: Parameters<typeof fetch>
): Promise<Response> {
  const response = await fetch(input, init);
  const text = await response.clone().text();
  const [height, id] = [response.headers.get("x-uniknode-height"), response.headers.get("x-uniknode-block")];
  if (!response.ok || height === null || id === null) return response;
  const demanded = demandedOf(new Headers(init?.headers));
  state.reads.push({ client, block: { height: Number(height), id }, demanded });
  compareResponses(state, `${new URL(String(input)).pathname} at block ${id}`, text);
  return response;
}

function demandedOf(headers: Headers): Block | undefined {
  const [height, id] = headers.get("x-uniknode-at-least")?.split(":") ?? [];
  return height === undefined || id === undefined ? undefined : { height: Number(height), id };
}

/** Responses of all servers after the same block are equal. */
function compareResponses({ digests, faults }: State, name: string, text: string): void {
  const digest = hash("sha256", text);
  const known = digests.get(name) ?? digest;
  digests.set(name, known);
  if (known !== digest) faults.push(`two servers have sent different responses for ${name}`);
}

const nameOf = ({ height, id }: Block): string => `block ${height} ${id.slice(0, 8)}`;

/** Checks that each response has a block of the node, which follows the demanded block. */
export function judgeReads(reads: readonly Read[], changes: readonly Change[]): string[] {
  const parents = parentsOf(changes);
  const first = changes[0]?.block.height ?? 0;
  return reads.flatMap(({ client, block, demanded }) => {
    if (block.height < first) return [];
    if (!parents.has(block.id))
      return [`client ${client} received ${nameOf(block)}, which the node never had`];
    if (!demanded || demanded.height < first) return [];
    let ancestor: string | undefined = block.id;
    for (let height = block.height; height > demanded.height; height--)
      ancestor = parents.get(ancestor ?? "");
    if (ancestor === demanded.id) return [];
    return [`client ${client} had ${nameOf(demanded)}, which ${nameOf(block)} does not follow`];
  });
}

/** Returns the id of the parent by the id of each block. */
function parentsOf(changes: readonly Change[]): Map<string, string | undefined> {
  const atHeight = new Map<number, string>();
  const parents = new Map<string, string | undefined>();
  for (const { kind, block } of changes) {
    if (kind === "reverted") continue;
    parents.set(block.id, atHeight.get(block.height - 1));
    atHeight.set(block.height, block.id);
  }
  return parents;
}
