/** The mark of a chain that has blocks whose signatures were not checked (decision 39). */
import type { MetaStore } from "./meta.ts";

export type UncheckedMark = {
  /** Height of the first unchecked block. */
  readonly from: number;
  /** `HEIGHT:ID` of the block that will verify them. */
  readonly pin: string;
};

/** Returns the mark; undefined if all blocks were checked, or verified by the pin. */
export function readUnchecked(meta: Pick<MetaStore, "read">): UncheckedMark | undefined {
  const stored = meta.read("unchecked");
  return stored === undefined ? undefined : (JSON.parse(stored) as UncheckedMark);
}

export function writeUnchecked(meta: MetaStore, mark: UncheckedMark | undefined): void {
  if (mark) meta.write("unchecked", JSON.stringify(mark));
  else meta.remove("unchecked");
}
