/** Registration, resignation and change of a bridgechain of a business (transactions-rules.md 4 types 3 to 5). */
import {
  assetMember,
  type BridgechainAsset,
  present,
  type Transaction,
  TYPE_GROUPS,
} from "@uniknode/protocol";
import { addHolding, findHolding, type HoldingsOf } from "../../state/holdings.ts";
import type { Bridgechain, StateReader, Wallet } from "../../state/tables.ts";
import { walletOf } from "../../wallets.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { businessNotRegistered, changeBusiness, requireBusiness, walletNotBusiness } from "./business.ts";

const findBridgechain = (state: StateReader, { address }: Wallet, id: string): Bridgechain | undefined =>
  findHolding(state, { address, kind: "bridgechains" }, id);

/** Returns true if the wallet has a bridgechain with the name, in any case of letters. */
const hasBridgechainNamed = (state: StateReader, { address }: Wallet, name: string): boolean =>
  findHolding(state, { address, kind: "bridgechainNames" }, name.toLowerCase()) !== undefined;

/**
 * A bridgechain of the sender, unless it has resigned.
 *
 * @throws {RuleError} BridgechainIsNotRegisteredByWalletError, BridgechainIsResignedError
 */
function requireBridgechain(state: StateReader, sender: Wallet, id: string): Bridgechain {
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
function checkPortNames(ports: Readonly<Record<string, number>>): void {
  if (Object.keys(ports).every((name) => PACKAGE_NAME.test(name))) return;
  throw refusal("PortKeyMustBeValidPackageNameError", "the package name(s) defined in ports is not valid.");
}

/** Adds or replaces a bridgechain of the sender. */
function saveBridgechain(
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

/** Names and genesis hashes are compared within the business only. */
function checkUnique(state: StateReader, sender: Wallet, { name, genesisHash }: BridgechainAsset): void {
  if (hasBridgechainNamed(state, sender, name)) {
    throw refusal("BridgechainAlreadyRegisteredError", "bridgechain is already registered.");
  }
  if (findBridgechain(state, sender, genesisHash)) {
    throw refusal(
      "GenesisHashAlreadyRegisteredError",
      "genesis hash is already registered by another bridgechain.",
    );
  }
}

const bridgechainRegistration: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 3,

  check(transaction, context, sender) {
    const registered = assetMember(transaction.asset, "bridgechainRegistration");
    requireBusiness(sender, walletNotBusiness);
    checkUnique(context.draft, sender, registered);
    checkPortNames(registered.ports);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const bridgechainAsset = present(
      transaction.asset?.bridgechainRegistration,
      "asset.bridgechainRegistration",
    );
    saveBridgechain(transaction, context, bridgechainAsset.genesisHash, { bridgechainAsset });
  },
};

const bridgechainResignation: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 4,

  check(transaction, context, sender) {
    const { bridgechainId } = present(
      transaction.asset?.bridgechainResignation,
      "asset.bridgechainResignation",
    );
    requireBusiness(sender, walletNotBusiness);
    requireBridgechain(context.draft, sender, bridgechainId);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const { bridgechainId } = present(
      transaction.asset?.bridgechainResignation,
      "asset.bridgechainResignation",
    );
    const { draft, network } = context;
    const sender = walletOf(draft, transaction.senderPublicKey, network);
    const bridgechain = present(findBridgechain(draft, sender, bridgechainId), "the bridgechain");
    saveBridgechain(transaction, context, bridgechainId, { ...bridgechain, resigned: true });
  },
};

const bridgechainUpdate: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 5,

  check(transaction, context, sender) {
    const { bridgechainId, ports } = assetMember(transaction.asset, "bridgechainUpdate");
    requireBusiness(sender, businessNotRegistered);
    requireBridgechain(context.draft, sender, bridgechainId);
    if (ports) checkPortNames(ports);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const { bridgechainId, ...changes } = present(
      transaction.asset?.bridgechainUpdate,
      "asset.bridgechainUpdate",
    );
    const { draft, network } = context;
    const sender = walletOf(draft, transaction.senderPublicKey, network);
    const bridgechain = present(findBridgechain(draft, sender, bridgechainId), "the bridgechain");
    const bridgechainAsset = { ...bridgechain.bridgechainAsset, ...changes };
    saveBridgechain(transaction, context, bridgechainId, { ...bridgechain, bridgechainAsset });
  },
};

/** Types 3 to 5 of group 2. */
export const bridgechainRules: readonly Rule[] = [
  bridgechainRegistration,
  bridgechainResignation,
  bridgechainUpdate,
];
