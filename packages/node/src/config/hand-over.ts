/** Options of `uniknode webhooks hand-over` besides the hand-over itself. */
import { mirrorOptions } from "./mirror.ts";
import { nodeOptions } from "./options.ts";

export const handOverOptions = {
  node: mirrorOptions.node,
  token: mirrorOptions.token,
  databaseUrl: {
    ...mirrorOptions.databaseUrl,
    sentence: "Database of the workers and the mirror: postgres://user:password@host:port/database.",
  },
  webhookKeyFile: {
    ...nodeOptions.webhookKeyFile,
    sentence: "File with the key that encrypts the secrets of webhooks in the database of the workers.",
  },
};
