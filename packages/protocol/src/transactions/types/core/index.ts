import type { TransactionType } from "../type.ts";
import { delegateRegistration } from "./delegate-registration.ts";
import { delegateResignation } from "./delegate-resignation.ts";
import { htlcClaim, htlcLock, htlcRefund } from "./htlc.ts";
import { ipfs } from "./ipfs.ts";
import { multiPayment, transfer } from "./payments.ts";
import { multiSignature, secondSignature } from "./signatures.ts";
import { vote } from "./vote.ts";

/** Types 0 to 10 of group 1. */
export const coreTypes: readonly TransactionType[] = [
  transfer,
  secondSignature,
  delegateRegistration,
  vote,
  multiSignature,
  ipfs,
  multiPayment,
  delegateResignation,
  htlcLock,
  htlcClaim,
  htlcRefund,
];
