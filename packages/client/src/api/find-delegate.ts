/** Finds a delegate by what people call it: an identifier or the displayed name. */
import type { Client } from "./client.ts";
import { ApiError } from "./error.ts";
import { argumentError } from "./request.ts";
import type { Delegate } from "./resources/delegates.ts";

/** Pattern of ids in the API, which refuses other texts, including most displayed names. */
const IDENTIFIER = /^([a-z0-9!@$&_.]{1,64}|[0-9A-Za-z]{34}|[0-9a-fA-F]{66})$/;
/** Addresses and public keys: another delegate may have disclosed the same text as its name. */
const KEY = /^([0-9A-Za-z]{34}|[0-9a-fA-F]{66})$/;

/**
 * The delegate with this username, address or public key, or else with this displayed name, case-insensitive.
 *
 * @throws {ApiError} API_NOT_FOUND
 * @throws {TypeError} API_ARGUMENT if several delegates have the name: a vote must not go to any of them
 */
export async function findDelegate(
  { delegates }: Client,
  text: string,
): Promise<{ readonly data: Delegate }> {
  const found = (await findByKey(delegates, text)) ?? (await findByName(delegates, text));
  if (found) return { data: found };
  // An empty text is refused like an empty id.
  if (text === "" || IDENTIFIER.test(text)) return delegates.get(text);
  throw new ApiError({ code: "API_NOT_FOUND", status: 404, body: undefined }, `delegate ${text}`);
}

async function findByKey(delegates: Client["delegates"], text: string): Promise<Delegate | undefined> {
  if (!KEY.test(text)) return undefined;
  try {
    return (await delegates.get(text)).data;
  } catch (error) {
    if (error instanceof ApiError && error.code === "API_NOT_FOUND") return undefined;
    throw error;
  }
}

async function findByName(delegates: Client["delegates"], text: string): Promise<Delegate | undefined> {
  if (text === "") return undefined;
  const found: Delegate[] = [];
  try {
    for await (const delegate of delegates.list({ name: text })) found.push(delegate);
  } catch (error) {
    // Too long for a name, or a node of the old network.
    if (error instanceof ApiError && error.code === "API_REFUSED") return undefined;
    throw error;
  }
  const username = found.find((delegate) => delegate.username === text);
  if (username) return username;
  const [first, second] = found.filter(({ unikname }) => unikname.toLowerCase() === text.toLowerCase());
  if (second) throw argumentError(`several delegates have the name "${text}": give a username`);
  return first;
}
