/** Accounts and uniks of a scenario by their names. */
import {
  addressFromPublicKey,
  bytesToHex,
  type KeyPair,
  keysFromPassphrase,
  sha256,
  utf8ToBytes,
} from "@uniknode/protocol";
import type { DevAccount, DevAccounts } from "../api/resources/dev.ts";
import { ScenarioError } from "./error.ts";

export const ACCOUNT = /^(?:(?:account|delegate) \d{1,3}|factory|foundation|wallet [a-z0-9-]{1,32})$/;
export const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{34}$/;

export const isAccount = (name: string): boolean => ACCOUNT.test(name);

/** An account whose keys are known. */
export type Account = {
  readonly keys: KeyPair;
  readonly publicKey: string;
  readonly address: string;
  /** Id of the unik that the account owns since the first blocks of the chain, if any. */
  readonly unikId: string | undefined;
};

export type Names = {
  /** @throws {ScenarioError} SCENARIO_INVALID if the chain has no such account */
  account(name: string): Account;
  /** Returns the address of an account, or the address itself. */
  address(name: string): string;
  /** Returns the id of a unik: that of an account, or one that this run mints. */
  unikId(name: string): string;
};

/**
 * @param addressVersion of the network
 * @param run text that differs between runs on one chain, from which ids of uniks are derived
 */
export function createNames(accounts: DevAccounts, addressVersion: number, run: string): Names {
  const known = new Map<string, Account>();

  function account(name: string): Account {
    const found = known.get(name) ?? open(name);
    known.set(name, found);
    return found;
  }

  function open(name: string): Account {
    const dev = devAccountOf(accounts, name);
    if (!dev && !name.startsWith("wallet ")) {
      throw new ScenarioError(
        "SCENARIO_INVALID",
        `the chain has no ${name}: choose another, or start it with more accounts`,
      );
    }
    const keys = keysFromPassphrase(dev?.passphrase ?? `uniknode scenario ${name}`);
    const publicKey = bytesToHex(keys.publicKey);
    return {
      keys,
      publicKey,
      address: addressFromPublicKey(publicKey, addressVersion),
      unikId: dev?.unik?.id,
    };
  }

  function unikId(name: string): string {
    if (!isAccount(name)) return bytesToHex(sha256(utf8ToBytes(`${run} ${name}`)));
    const { unikId } = account(name);
    if (unikId !== undefined) return unikId;
    throw new ScenarioError("SCENARIO_INVALID", `${name} owns no unik at the start of a chain: mint one`);
  }

  return { account, address: (name) => (ADDRESS.test(name) ? name : account(name).address), unikId };
}

function devAccountOf(
  { accounts, delegates, factory, foundation }: DevAccounts,
  name: string,
): DevAccount | undefined {
  if (name === "factory") return factory;
  if (name === "foundation") return foundation;
  const [role, index] = name.split(" ");
  const list = role === "account" ? accounts : role === "delegate" ? delegates : [];
  return list[Number(index)];
}
