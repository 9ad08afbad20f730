/** A delegate by what its address has: an identifier, or the name that the console shows. */
import { ApiError, type Client, type Delegate } from "@uniknode/client";

/** Pattern of the API, which refuses other texts, among them most names. */
const IDENTIFIER = /^([a-z0-9!@$&_.]{1,64}|[0-9A-Za-z]{34}|[0-9a-fA-F]{66})$/;

/**
 * @param text username, address or public key; else the shown name, in upper or lower case
 * @throws {ApiError}
 */
export async function findDelegate(api: Client, text: string): Promise<{ readonly data: Delegate }> {
  const named = await findByName(api, text);
  if (named) return { data: named };
  if (IDENTIFIER.test(text)) return api.delegates.get(text);
  throw new ApiError({ code: "API_NOT_FOUND", status: 404, body: undefined }, `delegate ${text}`);
}

/** A username comes first; of several that have disclosed a name, the one with the best rank. */
async function findByName(api: Client, text: string): Promise<Delegate | undefined> {
  if (text === "") return undefined;
  const { data } = await api.delegates.list({ name: text }).page({ limit: 100 });
  const name = text.toLowerCase();
  return (
    data.find(({ username }) => username === text) ??
    data.find(({ unikname }) => unikname.toLowerCase() === name)
  );
}
