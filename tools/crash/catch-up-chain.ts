/** The chain of the crash run of a catch-up: its ids fill the first levels of their indexes, and reach the last one. */

import { blockFromTrustedBytes } from "@uniknode/protocol";
import { type Fixture, loadFixture } from "../../bench/fixture.ts";
import type { Pin } from "../../packages/node/src/chain/assumption.ts";
import { present } from "../../packages/node/src/platform/present.ts";

const SIZE = { emptyBlocks: 50_000, fullBlocks: 500, transfersPerBlock: 60 };
export const TRANSACTIONS = SIZE.fullBlocks * SIZE.transfersPerBlock;

export async function loadCatchUp(): Promise<{ readonly fixture: Fixture; readonly last: Pin }> {
  const fixture = await loadFixture(SIZE);
  let bytes: Uint8Array | undefined;
  for await (const block of fixture.blocks()) bytes = block;
  const { height, id } = blockFromTrustedBytes(present(bytes, "the last block"), fixture.network).header;
  return { fixture, last: { height, id } };
}
