/** Blocks in one byte string: before each, its length as u32 little endian. */
import { MAX_PACKED_BLOCKS } from "./limits.ts";

export function packBlocks(blocks: readonly Uint8Array[]): Uint8Array {
  const length = blocks.reduce((total, block) => total + 4 + block.length, 0);
  const packed = new Uint8Array(length);
  const view = new DataView(packed.buffer);
  let at = 0;
  for (const block of blocks) {
    view.setUint32(at, block.length, true);
    packed.set(block, at + 4);
    at += 4 + block.length;
  }
  return packed;
}

/** Undefined if a block is truncated, or there are too many. The blocks share the memory of `packed`. */
export function unpackBlocks(packed: Uint8Array): Uint8Array[] | undefined {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const blocks: Uint8Array[] = [];
  let at = 0;
  while (at < packed.length) {
    if (at + 4 > packed.length) return undefined;
    const end = at + 4 + view.getUint32(at, true);
    if (end > packed.length || blocks.length === MAX_PACKED_BLOCKS) return undefined;
    blocks.push(packed.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}
