/** Finds a delegate by the text in the URL: an identifier or the displayed name. */
import { ApiError, type Client, type Delegate } from "@uniknode/client";

/** Pattern of ids in the API, which refuses other texts, including most names. */
const IDENTIFIER = /^([a-z0-9!@$&_.]{1,64}|[0-9A-Za-z]{34}|[0-9a-fA-F]{66})$/;

/**
 * @param text username, address or public key, or else the displayed name, case-insensitive
 * @throws {ApiError}
 */
export async function findDelegate(api: Client, text: string): Promise<{ readonly data: Delegate }> {
  const named = await findByName(api, text);
  if (named) return { data: named };
  if (IDENTIFIER.test(text)) return api.delegates.get(text);
  throw new ApiError({ code: "API_NOT_FOUND", status: 404, body: undefined }, `delegate ${text}`);
}

/** Finds by username first, then by disclosed name; if several match, the best rank. */
async function findByName(api: Client, text: string): Promise<Delegate | undefined> {
  if (text === "") return undefined;
  const { data } = await api.delegates.list({ name: text }).page({ limit: 100 });
  const name = text.toLowerCase();
  return (
    data.find(({ username }) => username === text) ??
    data.find(({ unikname }) => unikname.toLowerCase() === name)
  );
}
