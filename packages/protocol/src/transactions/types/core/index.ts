import type { TransactionType } from "../type.ts";
import { delegateRegistration } from "./delegate-registration.ts";
import { delegateResignation } from "./delegate-resignation.ts";
import { htlcClaim } from "./htlc-claim.ts";
import { htlcLock } from "./htlc-lock.ts";
import { htlcRefund } from "./htlc-refund.ts";
import { ipfs } from "./ipfs.ts";
import { multiPayment } from "./multi-payment.ts";
import { multiSignature } from "./multi-signature.ts";
import { secondSignature } from "./second-signature.ts";
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
