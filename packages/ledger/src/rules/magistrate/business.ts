/** The business of a wallet and its bridgechains (transactions-rules.md 4). */
import { present, type Transaction } from "@uniknode/protocol";
import { addHolding, findHolding, type HoldingsOf } from "../../state/holdings.ts";
import type { Attributes, Bridgechain, StateReader, Wallet } from "../../state/tables.ts";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import { refusal } from "../shared/common.ts";
import type { RuleError } from "../shared/error.ts";
import type { RuleContext } from "../shared/rule.ts";

export type Business = NonNullable<Attributes["business"]>;

/** The message of some types for a wallet without a business. */
export const businessNotRegistered = (): RuleError =>
  refusal("BusinessIsNotRegisteredError", "wallet is not a business.");
export const walletNotBusiness = (): RuleError =>
  refusal("WalletIsNotBusinessError", "wallet is not a business.");

/**
 * The business of the sender, unless it has resigned.
 *
 * @throws {RuleError} the error from `missing`, or BusinessIsResignedError
 */
export function requireBusiness({ attributes }: Wallet, missing: () => RuleError): Business {
  const { business } = attributes;
  if (business === undefined) throw missing();
  if (business.resigned) throw refusal("BusinessIsResignedError", "business is resigned.");
  return business;
}

const bridgechainsOf = ({ address }: Wallet): HoldingsOf<"bridgechains"> => ({
  address,
  kind: "bridgechains",
});

export const findBridgechain = (state: StateReader, wallet: Wallet, id: string): Bridgechain | undefined =>
  findHolding(state, bridgechainsOf(wallet), id);

/** Returns true if the wallet has a bridgechain with the name, in any case of letters. */
export const hasBridgechainNamed = (state: StateReader, { address }: Wallet, name: string): boolean =>
  findHolding(state, { address, kind: "bridgechainNames" }, name.toLowerCase()) !== undefined;

/**
 * A bridgechain of the sender, unless it has resigned.
 *
 * @throws {RuleError} BridgechainIsNotRegisteredByWalletError, BridgechainIsResignedError
 */
export function requireBridgechain(state: StateReader, sender: Wallet, id: string): Bridgechain {
  const bridgechain = findBridgechain(state, sender, id);
  if (bridgechain === undefined) {
    throw refusal("BridgechainIsNotRegisteredByWalletError", "bridgechain is not registered by wallet.");
  }
  if (bridgechain.resigned) throw refusal("BridgechainIsResignedError", "bridgechain is resigned.");
  return bridgechain;
}

const PACKAGE_NAME = /^[a-z0-9@/.~_-]{1,214}$/;

/**
 * Ports are named after the packages that listen on them.
 *
 * @throws {RuleError} PortKeyMustBeValidPackageNameError
 */
export function checkPortNames(ports: Readonly<Record<string, number>>): void {
  if (Object.keys(ports).every((name) => PACKAGE_NAME.test(name))) return;
  throw refusal("PortKeyMustBeValidPackageNameError", "the package name(s) defined in ports is not valid.");
}

/** Writes the result of `change` for the sender's business. */
export function changeBusiness(
  { senderPublicKey }: Transaction,
  { draft, network }: RuleContext,
  change: (business: Business) => Business,
): void {
  const sender = walletOf(draft, senderPublicKey, network);
  const business = present(sender.attributes.business, "the business of the sender");
  saveWallet(draft, withAttribute(sender, "business", change(business)));
}

/** Adds or replaces a bridgechain of the sender. */
export function saveBridgechain(
  transaction: Transaction,
  context: RuleContext,
  id: string,
  bridgechain: Bridgechain,
): void {
  const { draft, network } = context;
  const { address } = walletOf(draft, transaction.senderPublicKey, network);
  const before = findHolding(draft, { address, kind: "bridgechains" }, id);
  const isActive = (one: Bridgechain | undefined) => (one && !one.resigned ? 1 : 0);
  const name: HoldingsOf<"bridgechainNames"> = { address, kind: "bridgechainNames" };
  if (!before) addHolding(draft, name, undefined, [bridgechain.bridgechainAsset.name.toLowerCase(), id]);
  changeBusiness(transaction, context, (business) => {
    const held = business.bridgechains;
    const collection = addHolding(draft, { address, kind: "bridgechains" }, held, [id, bridgechain]);
    const active = (held?.active ?? 0) - isActive(before) + isActive(bridgechain);
    return { ...business, bridgechains: { ...collection, active } };
  });
}
