/** Disclosure of the readable names of a unik (transactions-rules.md 7.1). */
import {
  assetMember,
  discloseCertificationJob,
  discloseDemandJob,
  discloseSubject,
  type Transaction,
  TYPE_GROUPS,
} from "@uniknode/protocol";
import { COMPUTED_SIGNATURES } from "../../signatures.ts";
import type { Wallet } from "../../state/tables.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import { ownerOf, requireIssuer, UNKNOWN_TOKEN } from "../shared/economy.ts";
import { RuleError } from "../shared/error.ts";
import { EXPLICIT_VALUES, getProperty } from "../shared/properties.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { discloseEffect, MAX_VALUE_CHARACTERS, setProperties } from "../shared/token-effects.ts";
import { holds, notOwner } from "../shared/tokens.ts";

const demandOf = ({ asset }: Transaction) => assetMember(asset, "disclose-demand");
const certificationOf = ({ asset }: Transaction) => assetMember(asset, "disclose-demand-certification");

function checkDisclosure(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const certifier = requireIssuer(transaction, context, certificationOf(transaction).payload.iss); // 1, 2
  const demander = requireDemander(transaction, context); // 3
  checkSignatures(transaction, context, { certifier, demander }); // 4, 5
  // 6
  if (certificationOf(transaction).payload.sub !== discloseSubject(demandOf(transaction).payload)) {
    throw new RuleError(
      "DiscloseDemandSubInvalidError",
      "Failed to apply transaction, certification does not match the disclose demand payload",
    );
  }
  checkNew(transaction, context); // 7
  // 8: a wallet without tokens may disclose for any token, existing or not (trap A8)
  const { sub } = demandOf(transaction).payload;
  if (sender.attributes.tokens !== undefined && !holds(context.draft, sender, sub))
    throw notOwner(sender, sub);
  checkCommon(transaction, context, sender); // 9
}

/** The owner of the token that issues the demand, which may differ from the disclosed token and from the sender's. */
function requireDemander(transaction: Transaction, { state }: RuleContext): Wallet {
  const owner = ownerOf(state, demandOf(transaction).payload.iss);
  if (owner) return owner;
  throw new RuleError(
    "CertifiedDemandIssuerNotFound",
    `Failed to apply transaction ${transaction.id}, because ${UNKNOWN_TOKEN}`,
  );
}

function checkSignatures(
  transaction: Transaction,
  { signatures = COMPUTED_SIGNATURES }: RuleContext,
  { certifier, demander }: { readonly certifier: Wallet; readonly demander: Wallet },
): void {
  const [demand, certification] = [demandOf(transaction), certificationOf(transaction)];
  // 4
  const { publicKey } = certifier;
  if (!publicKey || !signatures.isPayloadSigned(discloseCertificationJob(certification, publicKey))) {
    throw refusal(
      "DiscloseDemandCertificationSignatureError",
      "disclose demand certification signature does not correspond to the provided payload",
    );
  }
  // 5
  const { publicKey: demanderKey } = demander;
  if (!demanderKey || !signatures.isPayloadSigned(discloseDemandJob(demand, demanderKey))) {
    throw refusal(
      "DiscloseDemandSignatureError",
      "disclose demand signature does not correspond to the provided payload",
    );
  }
}

/** Counts uses in earlier blocks only, and only while the token has explicit values (trap A3). */
function checkNew(transaction: Transaction, { state }: RuleContext): void {
  const { sub } = demandOf(transaction).payload;
  if (getProperty(state, sub, EXPLICIT_VALUES) === undefined) return;
  if (state.get("disclosures", certificationOf(transaction).payload.sub) === undefined) return;
  throw new RuleError(
    "DiscloseDemandAlreadyExistsError",
    `Failed to apply transaction ${transaction.id}, because this disclose demand already exists`,
  );
}

/** @throws {RuleError} NftPropertyTooLongError if the values are too long for the store (trap A8) */
function disclose(transaction: Transaction, { draft }: RuleContext): void {
  const effect = discloseEffect(transaction, (tokenId, key) => getProperty(draft, tokenId, key));
  if ([...effect.values].length > MAX_VALUE_CHARACTERS) {
    throw refusal(
      "NftPropertyTooLongError",
      `property '${EXPLICIT_VALUES}' exceed the maximum allowed size of ${MAX_VALUE_CHARACTERS} characters`,
    );
  }
  setProperties(draft, effect);
}

export const discloseExplicit: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: 0,
  check: checkDisclosure,
  applyToSender: disclose,
};
