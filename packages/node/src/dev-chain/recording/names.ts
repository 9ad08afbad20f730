/** Names of accounts and uniks in a recorded scenario. */
import { addressFromPublicKey } from "@uniknode/protocol";
import type { DevAccount } from "../keys.ts";
import { type Cast, DEV_ADDRESS_VERSION, KINDS } from "../network.ts";

export type RecordedNames = {
  /** Returns the name of the account of a public key, or undefined if its passphrase is unknown. */
  sender(publicKey: string): string | undefined;
  /** Returns the name of an account, or the address. */
  recipient(address: string): string;
  delegate(publicKey: string): string | undefined;
  /** Returns the name of a unik, or undefined if it was not minted during the recording. */
  unik(id: string): string | undefined;
  /** Names a unik that is being minted. */
  nameUnik(id: string): string;
};

/** @param minted names of uniks that were minted during the recording, by id */
export function createRecordedNames(cast: Cast, minted: Map<string, string>): RecordedNames {
  const accounts = new Map<string, string>();
  const uniks = new Map<string, string>();

  function add(account: DevAccount, name: string, ownsUnik: boolean): void {
    accounts.set(account.address, name);
    if (ownsUnik) uniks.set(account.unikId, name);
  }
  for (const [index, account] of cast.accounts.entries())
    add(account, `account ${index}`, index < KINDS.length);
  for (const [index, { account }] of cast.delegates.entries()) add(account, `delegate ${index}`, true);
  add(cast.factory, "factory", true);
  add(cast.foundation, "foundation", false);

  const sender = (publicKey: string) => accounts.get(addressFromPublicKey(publicKey, DEV_ADDRESS_VERSION));
  return {
    sender,
    recipient: (address) => accounts.get(address) ?? address,
    delegate(publicKey) {
      const name = sender(publicKey);
      return name?.startsWith("delegate ") ? name : undefined;
    },
    unik: (id) => minted.get(id) ?? uniks.get(id),
    nameUnik(id) {
      const name = `unik ${minted.size + 1}`;
      minted.set(id, name);
      return name;
    },
  };
}
