/** Writes of wallets whose attributes contain what they hold, as responses show them. */
import { collapseAttributes, holdingKey, type ShownAttributes, type Wallet } from "@uniknode/ledger";
import type { Write } from "../../src/store/state/state.ts";

export type ShownWallet = Omit<Wallet, "attributes"> & { readonly attributes: ShownAttributes };

export function walletWrites(wallet: ShownWallet): Write[] {
  const { address } = wallet;
  const { attributes, holdings } = collapseAttributes(wallet.attributes);
  return [
    { table: "wallets", key: address, after: { ...wallet, attributes } },
    ...holdings.map(
      ({ kind, id, holding }): Write => ({
        table: "holdings",
        key: holdingKey(address, kind, id),
        after: holding,
      }),
    ),
  ];
}
