/** Issuers of certifications: tokens that the network trusts, represented by their current owner (trap A10). */
import {
  certificationJob,
  discloseCertificationJob,
  discloseDemandJob,
  type SignatureJob,
  type Transaction,
} from "@uniknode/protocol";
import type { StateReader, Wallet } from "../../state/tables.ts";
import { walletAt } from "../../wallets.ts";
import { RuleError } from "./error.ts";
import type { RuleContext } from "./rule.ts";

/** The network's message for a token that does not exist. */
export const UNKNOWN_TOKEN = "Cannot read property 'ownerId' of null";

/**
 * The wallet that owns the issuing token of a certification.
 *
 * @throws {RuleError} CertifiedDemandNotAllowedIssuerError, IssuerNotFound
 */
export function requireIssuer({ id }: Transaction, context: RuleContext, iss: string): Wallet {
  const { network, milestone, state } = context;
  const factories = network.description.forgeFactory?.unikidWhiteList ?? [];
  if (!factories.includes(iss) && !milestone.urlCheckers?.includes(iss)) {
    throw new RuleError(
      "CertifiedDemandNotAllowedIssuerError",
      `Failed to apply transaction ${id}, because the demand issuer of id ${iss} is not allowed to`,
    );
  }
  const owner = ownerOf(state, iss);
  if (owner) return owner;
  throw new RuleError(
    "IssuerNotFound",
    `Failed to apply transaction ${id}: Unable to retrieve transaction issuer: ${UNKNOWN_TOKEN}`,
  );
}

/** The wallet that owns a token now; undefined if the token does not exist. */
export function ownerOf(state: StateReader, tokenId: string): Wallet | undefined {
  const token = state.get("tokens", tokenId);
  return token && walletAt(state, token.ownerId);
}

/**
 * Returns the signatures inside the asset of a transaction that the rules check (transactions-rules.md 6.0, 7.1), with the
 * keys of the owners of the issuing uniks in a state. Signatures of owners without a key are left out.
 */
export function payloadJobs({ asset = {} }: Transaction, state: StateReader): SignatureJob[] {
  const { certification, "disclose-demand": demand, "disclose-demand-certification": disclosed } = asset;
  const keyOf = (iss: string | undefined) => iss && ownerOf(state, iss)?.publicKey;
  const certifier = keyOf(certification?.payload.iss);
  const discloser = keyOf(disclosed?.payload.iss);
  const demander = keyOf(demand?.payload.iss);
  return [
    ...(certification && certifier ? [certificationJob(certification, certifier)] : []),
    ...(disclosed && discloser ? [discloseCertificationJob(disclosed, discloser)] : []),
    ...(demand && demander ? [discloseDemandJob(demand, demander)] : []),
  ];
}
