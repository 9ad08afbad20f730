import type { TransactionType } from "../type.ts";
import { unsCertifiedNftMint } from "./uns-certified-nft-mint.ts";
import { unsCertifiedNftTransfer } from "./uns-certified-nft-transfer.ts";
import { unsCertifiedNftUpdate } from "./uns-certified-nft-update.ts";
import { unsDelegateRegister } from "./uns-delegate-register.ts";
import { unsDelegateResign } from "./uns-delegate-resign.ts";
import { unsDiscloseExplicit } from "./uns-disclose-explicit.ts";
import { unsVote } from "./uns-vote.ts";

/** Types 0 to 6 of group 2001. */
export const unsTypes: readonly TransactionType[] = [
  unsDiscloseExplicit,
  unsDelegateRegister,
  unsDelegateResign,
  unsCertifiedNftMint,
  unsCertifiedNftUpdate,
  unsVote,
  unsCertifiedNftTransfer,
];
