import type { TransactionType } from "../type.ts";
import { nftMint } from "./nftMint.ts";
import { nftTransfer } from "./nftTransfer.ts";
import { nftUpdate } from "./nftUpdate.ts";

/** Types 0 to 2 of group 2000. */
export const nftTypes: readonly TransactionType[] = [nftMint, nftUpdate, nftTransfer];
