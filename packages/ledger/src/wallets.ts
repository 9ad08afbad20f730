/** Wallets by address and by public key, and small changes to them (state.md 2). */
import { addressFromPublicKey, type Network, present } from "@uniknode/protocol";
import type { Draft } from "./state/draft.ts";
import type { Attributes, Delegate, StateReader, Wallet } from "./state/tables.ts";

/** Maximum number of cached addresses: about 10 MB. */
const MAX_REMEMBERED_ADDRESSES = 50_000;

/** Address by public key, for each version byte. */
const remembered: Map<string, string>[] = [];

/**
 * Address of a public key on the network. The derivation is cached, since every transaction and every block needs
 * it again.
 *
 * @throws {RangeError} unless the key is 66 hexadecimal digits
 */
export function addressOf(publicKey: string, network: Network): string {
  const version = network.description.pubKeyHash;
  const addresses = remembered[version] ?? new Map<string, string>();
  remembered[version] = addresses;
  let address = addresses.get(publicKey);
  if (address === undefined) {
    address = addressFromPublicKey(publicKey, version);
    // Not the oldest one alone: finding it among so many costs 17 us, more than deriving an address again.
    if (addresses.size >= MAX_REMEMBERED_ADDRESSES) addresses.clear();
    addresses.set(publicKey, address);
  }
  return address;
}

/** The wallet of an address; if the state has none, an empty one that is not written (state.md 2.2). */
export const walletAt = (state: StateReader, address: string): Wallet =>
  state.get("wallets", address) ?? { address, balance: 0n, nonce: 0n, attributes: {} };

/** The wallet of a public key, with the key attached; nothing is written (state.md 2.2). */
export function walletOf(state: StateReader, publicKey: string, network: Network): Wallet {
  const wallet = walletAt(state, addressOf(publicKey, network));
  return wallet.publicKey === undefined ? { ...wallet, publicKey } : wallet;
}

export const saveWallet = (draft: Draft, wallet: Wallet): void =>
  draft.set("wallets", wallet.address, wallet);

/** Adds an amount, which may be negative, to the balance of an address. */
export function credit(draft: Draft, address: string, amount: bigint): void {
  const wallet = walletAt(draft, address);
  saveWallet(draft, { ...wallet, balance: wallet.balance + amount });
}

/** The wallet with one attribute replaced, or removed by `undefined`. */
export function withAttribute<K extends keyof Attributes>(
  wallet: Wallet,
  name: K,
  value: Attributes[K] | undefined,
): Wallet {
  if (value !== undefined) return { ...wallet, attributes: { ...wallet.attributes, [name]: value } };
  const { [name]: _, ...others } = wallet.attributes;
  return { ...wallet, attributes: others };
}

/** The delegate of a wallet that is known to be registered. */
export const delegateOf = ({ address, attributes }: Wallet): Delegate =>
  present(attributes.delegate, `the delegate of ${address}`);

/** Writes a delegate whose wallet is already loaded. */
export const saveDelegate = (draft: Draft, wallet: Wallet, delegate: Delegate): void =>
  saveWallet(draft, withAttribute(wallet, "delegate", delegate));
