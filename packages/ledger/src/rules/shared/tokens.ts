/** Tokens: the holding of their wallet, and the record of the store (state.md 3.1). */
import { present, type Transaction } from "@uniknode/protocol";
import type { Draft } from "../../state/draft.ts";
import { addHolding, findHolding, type HoldingsOf, removeHolding } from "../../state/holdings.ts";
import type { StateReader, Wallet } from "../../state/tables.ts";
import { saveWallet, walletAt, walletOf, withAttribute } from "../../wallets.ts";
import { refusal } from "./common.ts";
import { nftOf } from "./economy.ts";
import { RuleError } from "./error.ts";
import { typeFromText } from "./kinds.ts";
import { getProperty, TYPE } from "./properties.ts";
import type { RuleContext } from "./rule.ts";
import { mintEffect, sendEffect, setProperties, type TokenEffect, updateEffect } from "./token-effects.ts";

const tokensOf = ({ address }: Wallet): HoldingsOf<"tokens"> => ({ address, kind: "tokens" });

export const holds = (state: StateReader, wallet: Wallet, tokenId: string): boolean =>
  findHolding(state, tokensOf(wallet), tokenId) !== undefined;

export const notOwner = ({ address }: Wallet, tokenId: string): RuleError =>
  refusal("NftOwnerError", `wallet '${address}' is not the owner of token '${tokenId}'`);

/**
 * Refuses unless the wallet holds the token.
 *
 * @throws {RuleError} NftOwnerError
 */
export function checkHolder(state: StateReader, wallet: Wallet, tokenId: string): void {
  if (!holds(state, wallet, tokenId)) throw notOwner(wallet, tokenId);
}

/** Creates the token of the asset for the sender, with its properties. */
export function mintToken(transaction: Transaction, { draft, network }: RuleContext): void {
  const { id, senderPublicKey } = transaction;
  const { token } = nftOf(transaction);
  const sender = walletOf(draft, senderPublicKey, network);
  receive(draft, sender, token.tokenId, typeFromText(token.properties?.[TYPE]));
  draft.set("tokens", token.tokenId, {
    id: token.tokenId,
    ownerId: sender.address,
    firstTransaction: id,
    lastTransaction: id,
  });
  setProperties(draft, mintEffect(token, sender.address));
}

/** Writes the properties of the asset, and records the transaction as the last one of the token. */
export function updateToken(transaction: Transaction, { draft }: RuleContext): void {
  writeEffect(transaction, updateEffect(nftOf(transaction).token), draft);
}

/** Removes the token from the sender and assigns it to the recipient in the store; then writes the properties. */
export function sendToken(transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  const effect = sendEffect(transaction);
  give(draft, walletOf(draft, transaction.senderPublicKey, network), effect.tokenId);
  writeEffect(transaction, effect, draft);
}

/** Writes the effect on a token that exists, with the transaction as its last one. */
function writeEffect({ id }: Transaction, effect: TokenEffect, draft: Draft): void {
  const { tokenId, ownerId } = effect;
  const record = draft.get("tokens", tokenId);
  if (record)
    draft.set("tokens", tokenId, {
      ...record,
      ...(ownerId !== undefined && { ownerId }),
      lastTransaction: id,
    });
  setProperties(draft, effect);
}

/**
 * Adds a sent token after those of the recipient, also if sender and recipient are the same (trap A7).
 * Its type is the one in the store, which the transfer may have changed (traps A11 and A22).
 *
 * @throws {RuleError} if the token has no type, or the transfer removes it (trap A28)
 */
export function receiveToken(transaction: Transaction, { draft }: RuleContext): void {
  const { tokenId } = nftOf(transaction).token;
  const recipient = walletAt(draft, present(transaction.recipientId, "recipientId"));
  const type = getProperty(draft, tokenId, TYPE);
  if (type === undefined) throw new RuleError("Error", `the token ${tokenId} has no property "${TYPE}"`);
  receive(draft, recipient, tokenId, typeFromText(type));
}

function receive(draft: Draft, wallet: Wallet, tokenId: string, type: number): void {
  const tokens = addHolding(draft, tokensOf(wallet), wallet.attributes.tokens, [tokenId, { type }]);
  saveWallet(draft, withAttribute(wallet, "tokens", tokens));
}

/** Removes the attribute with the last token. A wallet that the store names as the owner may lack the token (trap A22). */
function give(draft: Draft, wallet: Wallet, tokenId: string): void {
  const { tokens: held } = wallet.attributes;
  if (!held || !holds(draft, wallet, tokenId)) return;
  const tokens = removeHolding(draft, tokensOf(wallet), held, tokenId);
  saveWallet(draft, withAttribute(wallet, "tokens", tokens.size > 0 ? tokens : undefined));
}
