/** Checks the options without which mirrors and API servers do not start. Their processes load no other file of this room. */
import { ConfigError } from "../platform/coded-error.ts";

type MirrorAccess = { readonly databaseUrl: string; readonly token: string };

/**
 * Returns the database and the token, which mirrors and API servers need.
 *
 * @throws {ConfigError} if one of them is not given
 */
export function requireMirrorAccess({
  databaseUrl,
  token,
}: { readonly [Name in keyof MirrorAccess]: string | undefined }): MirrorAccess {
  if (databaseUrl === undefined) throw new ConfigError("give the database of the mirror with --database-url");
  if (token === undefined)
    throw new ConfigError('give the webhook token of the node with --token ("uniknode token" prints it)');
  return { databaseUrl, token };
}
