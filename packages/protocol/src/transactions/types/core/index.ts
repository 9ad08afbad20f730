import type { TransactionType } from "../type.ts";
import { delegateRegistration } from "./delegateRegistration.ts";
import { delegateResignation } from "./delegateResignation.ts";
import { htlcClaim } from "./htlcClaim.ts";
import { htlcLock } from "./htlcLock.ts";
import { htlcRefund } from "./htlcRefund.ts";
import { ipfs } from "./ipfs.ts";
import { multiPayment } from "./multiPayment.ts";
import { multiSignature } from "./multiSignature.ts";
import { secondSignature } from "./secondSignature.ts";
import { transfer } from "./transfer.ts";
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
