import type { TransactionType } from "../type.ts";
import { nftMint } from "./nft-mint.ts";
import { nftTransfer } from "./nft-transfer.ts";
import { nftUpdate } from "./nft-update.ts";

/** Types 0 to 2 of group 2000. */
export const nftTypes: readonly TransactionType[] = [nftMint, nftUpdate, nftTransfer];
