import type { TransactionType } from "../type.ts";
import { unsCertifiedNftMint } from "./unsCertifiedNftMint.ts";
import { unsCertifiedNftTransfer } from "./unsCertifiedNftTransfer.ts";
import { unsCertifiedNftUpdate } from "./unsCertifiedNftUpdate.ts";
import { unsDelegateRegister } from "./unsDelegateRegister.ts";
import { unsDelegateResign } from "./unsDelegateResign.ts";
import { unsDiscloseExplicit } from "./unsDiscloseExplicit.ts";
import { unsVote } from "./unsVote.ts";

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
