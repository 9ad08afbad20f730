import type { Rule } from "../shared/rule.ts";
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

/** Group 1 (transactions-rules.md 3). */
export const coreRules: readonly Rule[] = [
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
