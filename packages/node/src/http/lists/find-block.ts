/** Blocks of paths. */
import type { Snapshot } from "../../read/port.ts";
import type { StoredBlock } from "../../read/rows.ts";

/** Finds the block of a path segment, first as a height, then as an id. */
export async function findBlock({ blocks }: Snapshot, id: string): Promise<StoredBlock | undefined> {
  const height = /^\d+$/.test(id) ? Number(id) : Number.NaN;
  const byHeight = Number.isSafeInteger(height) ? await blocks.byHeight(height) : undefined;
  return byHeight ?? (await blocks.byId(id));
}
