/** Observers of a cluster during the faults: of owners, of responses through a load balancer, and with a snapshot that is held open. */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiError, createClient } from "@uniknode/client";
import { createDraws } from "../../random.ts";
import type { ClusterDatabase } from "../actors/database.ts";
import type { Change } from "../checks/chronicle.ts";
import { Background, firstValue, increase } from "../scenario.ts";

const LOOK_EVERY_MS = 150;

/** Owner of a shard, or of the head, and its position in the events. */
type OwnerRow = {
  readonly name: string;
  readonly owner: string | null;
  readonly epoch: string;
  readonly position: string;
};

/** Height of a mirror that lost commits goes back; it is compared with its node. */
const OWNERS = `SELECT 'shard ' || shard AS name, owner, epoch, matched AS position FROM shards
  UNION ALL SELECT 'head', owner, epoch, 0 FROM head`;

/** Checks rows that are read again and again: each epoch has one owner, and nothing goes back. */
export class OwnersCheck {
  readonly faults: string[] = [];
  readonly #owners = new Map<string, string>();
  readonly #latest = new Map<string, { readonly epoch: number; readonly position: number }>();

  look({ name, owner, ...row }: OwnerRow): void {
    const { faults } = this;
    const [epoch, position] = [Number(row.epoch), Number(row.position)];
    const before = this.#latest.get(name) ?? { epoch, position };
    this.#latest.set(name, { epoch, position });
    if (epoch < before.epoch) faults.push(`${name} went back from epoch ${before.epoch} to ${epoch}`);
    if (position < before.position) faults.push(`${name} went back from ${before.position} to ${position}`);
    if (owner === null) return;
    const key = `${name}, epoch ${epoch}`;
    const known = firstValue(this.#owners, key, owner);
    if (known !== owner) faults.push(`${key} had the owners ${known} and ${owner}`);
  }
}

export const watchOwners = (database: ClusterDatabase, check: OwnersCheck): Background =>
  new Background(LOOK_EVERY_MS, async () => {
    for (const row of await database.postgres.query<OwnerRow>(OWNERS)) check.look(row);
  });

/** Holds a snapshot open, as a long report does, and another one when a fault of the database has ended the last one. */
export const holdSnapshot = ({ postgres }: ClusterDatabase): Background =>
  new Background(LOOK_EVERY_MS, (signal) =>
    postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async ({ query }) => {
      while (!signal.aborted) {
        await query("SELECT height FROM head");
        await sleep(LOOK_EVERY_MS);
      }
    }),
  );

type Block = { readonly height: number; readonly id: string };
/** A response, and the block that the request demanded. */
export type Read = { readonly client: number; readonly block: Block; readonly demanded: Block | undefined };

/** Codes of failures that faults of the cluster may cause. */
const EXPECTED: ReadonlySet<string> = new Set([
  ...["API_UNREACHABLE", "API_TIMEOUT", "DATABASE_UNREACHABLE", "NODE_BUSY", "RESPONSE_LATE"],
  // While another block is awaited, after a reorganisation, and while a mirror is built again.
  ...["REPLICA_BEHIND", "BRANCH_GONE", "NODE_STARTING"],
]);
const CLIENTS = 4;
const PAUSE_MS = 40;

export class Readers {
  readonly faults: string[] = [];
  /** Successful responses. */
  readonly reads: Read[] = [];
  /** Number of the others by code. */
  readonly failures = new Map<string, number>();
  /** Digest of each response by its path and its block. */
  readonly #digests = new Map<string, string>();
  readonly #running: readonly Background[];

  /** @param url of the load balancer */
  constructor(url: string, address: string, seed: number) {
    this.#running = Array.from({ length: CLIENTS }, (_, index) => {
      const client = createClient({
        ...{ url, retries: 0, timeoutMs: 15_000 },
        fetch: (input, init) => this.#fetch(index + 1, input, init),
      });
      const random = createDraws(seed + index + 1);
      const requests: (() => Promise<unknown>)[] = [
        () => client.blockchain.get(),
        () => client.wallets.get(address),
        () => client.blocks.list().page({ limit: 5 }),
        () => client.delegates.list().page({ limit: 5 }),
      ];
      return new Background(PAUSE_MS, () =>
        random
          .pick(requests)()
          .catch((error: ApiError) => this.#noteFailure(error)),
      );
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((each) => each.stop()));
  }

  #noteFailure({ code, nodeCode = code }: ApiError): void {
    const count = increase(this.failures, nodeCode);
    if (count === 1 && !EXPECTED.has(nodeCode)) this.faults.push(`a client received ${nodeCode}`);
  }

  /** Requests as `fetch`, and notes the response. Responses of all servers after the same block are equal. */
  async #fetch(client: number, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(input, init);
    const text = await response.clone().text();
    const [height, id] = ["height", "block"].map((name) => response.headers.get(`x-uniknode-${name}`));
    if (!response.ok || !height || !id) return response;
    const [least, demandedId] = new Headers(init?.headers).get("x-uniknode-at-least")?.split(":") ?? [];
    const demanded = demandedId === undefined ? undefined : { height: Number(least), id: demandedId };
    this.reads.push({ client, block: { height: Number(height), id }, demanded });
    const name = `${new URL(String(input)).pathname} at block ${id}`;
    const digest = hash("sha256", text);
    if (firstValue(this.#digests, name, digest) !== digest)
      this.faults.push(`two servers have sent different responses for ${name}`);
    return response;
  }
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
