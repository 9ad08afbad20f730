/** Reads the owners of shards and of the mirror's head again and again: each epoch has one owner, and nothing goes back. */
import type { ClusterDatabase } from "../actors/database.ts";
import { type Background, repeat } from "../scenario.ts";

const EVERY_MS = 150;

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

export type OwnersCheck = {
  /** Descriptions of failures. */
  readonly faults: readonly string[];
  /** Must be called with each row that is read. */
  look(row: OwnerRow): void;
};

export function createOwnersCheck(): OwnersCheck {
  const faults: string[] = [];
  const owners = new Map<string, string>();
  const latest = new Map<string, { readonly epoch: number; readonly position: number }>();
  return {
    faults,
    look({ name, owner, ...row }) {
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

export function watchOwners({ postgres }: Pick<ClusterDatabase, "postgres">): OwnersCheck & Background {
  const check = createOwnersCheck();
  const read = async () => {
    for (const row of await postgres().query<OwnerRow>(OWNERS)) check.look(row);
  };
  return { ...check, ...repeat(() => EVERY_MS, read) };
}
