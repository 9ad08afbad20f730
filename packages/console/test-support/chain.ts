/** A chain of blocks in the format of the API, for tests of functions that show it. */
import type { Block } from "@uniknode/client";

export const EPOCH_UNIX = 1_700_000_000;

export type BlockOptions = {
  /** Blocks of the same height on another branch have other ids. */
  readonly branch?: string;
  readonly epoch?: number;
  readonly publicKey?: string;
};

export function block(
  height: number,
  { branch = "a", epoch = height * 2, publicKey = "" }: BlockOptions = {},
): Block {
  return {
    id: `${branch}-${height}`,
    version: 0,
    height,
    previous: `${branch}-${height - 1}`,
    forged: { reward: "0", fee: "0", total: "0", amount: "0" },
    payload: { hash: "", length: 0 },
    generator: { address: "", publicKey },
    signature: "",
    confirmations: 0,
    transactions: 0,
    timestamp: { epoch, unix: EPOCH_UNIX + epoch, human: "" },
  };
}

/** Blocks, newest first, from `to` down to `from`. */
export const blocks = (to: number, from: number, options?: BlockOptions): Block[] =>
  Array.from({ length: to - from + 1 }, (_, index) => block(to - index, options));
