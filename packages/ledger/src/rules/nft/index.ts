import type { Rule } from "../shared/rule.ts";
import { nftMint } from "./mint.ts";
import { nftTransfer } from "./transfer.ts";
import { nftUpdate } from "./update.ts";

/** Group 2000 (transactions-rules.md 5). */
export const nftRules: readonly Rule[] = [nftMint, nftUpdate, nftTransfer];
