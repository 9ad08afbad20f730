/** Keys that the service creates and stores for users, as BIP38 texts, which are useless without the password. */
import { createHash, randomBytes } from "node:crypto";
import {
  decryptBip38,
  encryptBip38,
  IdentityError,
  type KeyPair,
  keysFromPrivateKey,
} from "@uniknode/protocol";
import type { RpcContext } from "./define-method.ts";
import { ofStatus } from "./rpc-error.ts";

/** A user and a password; the user id is also part of the password of the key. */
type Keeper = { readonly bip38: string; readonly userId: string };

/** Maximum of users with stored keys. */
const MAX_KEYS = 100_000;

type KeyDeps = Pick<RpcContext, "store" | "derivations" | "signal">;

/**
 * Returns the keys of a user.
 *
 * @throws {RpcError} 404 when there are none; 422 for a wrong password; 429 for too many calls
 */
export async function findKeys(keeper: Keeper, { store, derivations, signal }: KeyDeps): Promise<KeyPair> {
  const text = store.findKey(digestOf(keeper));
  if (text === undefined) throw ofStatus(404);
  try {
    const { privateKey } = await derivations.run(() => decryptBip38(text, passwordOf(keeper)), signal);
    return keysFromPrivateKey(privateKey);
  } catch (error) {
    if (error instanceof IdentityError && error.code === "WRONG_PASSWORD") {
      throw ofStatus(422, "bip38: wrong password for this user");
    }
    throw error;
  }
}

/**
 * Creates keys for a user without keys. Existing keys are never replaced: payments to them would be lost.
 *
 * @throws {RpcError} as `findKeys`; 507 when `MAX_KEYS` is reached
 */
export async function createKeys(keeper: Keeper, deps: KeyDeps): Promise<KeyPair> {
  const { store, derivations, signal } = deps;
  const user = digestOf(keeper);
  if (store.findKey(user) !== undefined) return findKeys(keeper, deps);
  if (store.keyCount() >= MAX_KEYS)
    throw ofStatus(507, `bip38: the limit of ${MAX_KEYS} stored keys is reached`);
  const privateKey = randomBytes(32);
  const text = await derivations.run(() => encryptBip38(privateKey, passwordOf(keeper)), signal);
  store.saveKey(user, text);
  // Another call may have been first.
  return store.findKey(user) === text ? keysFromPrivateKey(privateKey) : findKeys(keeper, deps);
}

const passwordOf = ({ bip38, userId }: Keeper): string => bip38 + userId.toLowerCase();

const digestOf = ({ userId }: Keeper): string =>
  createHash("sha256").update(userId.toLowerCase()).digest("hex");
