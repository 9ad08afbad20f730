/** The certification of a demand (transactions-rules.md 6.0). */
import {
  type Asset,
  assetMember,
  certificationJob,
  certificationSubject,
  type Transaction,
} from "@uniknode/protocol";
import { COMPUTED_SIGNATURES } from "../../signatures.ts";
import type { Wallet } from "../../state/tables.ts";
import { requireIssuer } from "./economy.ts";
import { RuleError } from "./error.ts";
import type { RuleContext } from "./rule.ts";

/** The certification of a certified transaction. */
type CertifiedAsset = Required<Pick<Asset, "nft" | "demand" | "certification">>;

/**
 * C1 to C4. The demand itself is not verified: neither its signature nor its content nor any date (trap A10).
 *
 * @returns the wallet that owns the issuing token
 * @throws {RuleError} the first refusal
 */
export function checkCertification(transaction: Transaction, context: RuleContext): Wallet {
  const { signatures = COMPUTED_SIGNATURES } = context;
  const { nft, demand, certification } = transaction.asset as CertifiedAsset;
  const issuer = requireIssuer(transaction, context, certification.payload.iss); // C1, C2
  // C3: an owner without a sent transaction has no public key to verify with
  const isSigned =
    issuer.publicKey !== undefined &&
    signatures.isPayloadSigned(certificationJob(certification, issuer.publicKey));
  if (!isSigned) {
    throw certificationRefusal(
      "NftCertificationBadSignatureError",
      "Failed to check certification signature",
    );
  }
  // C4
  if (certification.payload.sub !== certificationSubject(nft, demand)) {
    throw certificationRefusal(
      "NftCertificationBadPayloadSubjectError",
      "Failed to check certification payload subject",
    );
  }
  return issuer;
}

/**
 * C1 to C6: the service is paid to the issuer.
 *
 * @throws {RuleError} the first refusal
 */
export function checkPaidCertification(transaction: Transaction, context: RuleContext): void {
  const issuer = checkCertification(transaction, context);
  // C5: the encoding stores only the cost, so decoded transactions always pass; only objects built by hand can fail
  if (costOf(transaction) !== transaction.amount) throw invalidParameter("amount");
  if (transaction.recipientId !== issuer.address) throw invalidParameter("recipient"); // C6
}

/** Cost of the service, in the smallest unit. */
export const costOf = ({ asset }: Transaction): bigint => assetMember(asset, "certification").payload.cost;

/** The refusal for an invalid member of a certified transaction. */
export const invalidParameter = (name: string): RuleError =>
  certificationRefusal(
    "NftTransactionParametersError",
    `Failed to apply transaction: invalid parameter "${name}"`,
  );

const certificationRefusal = (code: string, reason: string): RuleError =>
  new RuleError(code, `Failed to apply certified transaction:: ${reason}`);

/**
 * Requires a cost of 0 for a transaction with a reward or voucher, and exactly the fee that is due.
 *
 * @throws {RuleError} WrongServiceCostError, WrongFeeError
 */
export function checkFreeService(transaction: Transaction, dueFee: bigint): void {
  const { id, fee } = transaction;
  if (costOf(transaction) !== 0n) {
    throw new RuleError(
      "WrongServiceCostError",
      `Failed to apply transaction ${id}: amount does not match required service cost`,
    );
  }
  if (fee !== dueFee) {
    throw new RuleError(
      "WrongFeeError",
      `Failed to apply transaction ${id}: provided fees does not match the requirements`,
    );
  }
}
