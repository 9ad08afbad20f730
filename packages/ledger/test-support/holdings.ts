/** Wallets whose attributes contain what they hold, as responses show them. */
import {
  collapseAttributes,
  type Draft,
  expandAttributes,
  holdingKey,
  type ShownAttributes,
  type StateReader,
  type Wallet,
} from "@uniknode/ledger";

export type ShownWallet = Omit<Wallet, "attributes"> & { readonly attributes: ShownAttributes };

/** Writes a wallet and the records of what it holds. */
export function putWallet(draft: Pick<Draft, "set">, wallet: ShownWallet): void {
  const { attributes, holdings } = collapseAttributes(wallet.attributes);
  draft.set("wallets", wallet.address, { ...wallet, attributes });
  for (const { kind, id, holding } of holdings)
    draft.set("holdings", holdingKey(wallet.address, kind, id), holding);
}

export const shownAttributes = (state: StateReader, { address, attributes }: Wallet): ShownAttributes =>
  expandAttributes(attributes, (kind, id) =>
    state.get("holdings", holdingKey(address, kind, id)),
  ) as ShownAttributes;
