/** Options of mirrors: every option of `uniknode mirror`, and the feed of a node that starts a mirror. */
import { option, readDatabaseUrl, readNodeUrl, readText, readToken } from "./define-option.ts";
import { MAX_FEED_BLOCKS, nodeOptions, type Options } from "./options.ts";

export const mirrorOptions = {
  node: option({
    name: "node",
    placeholder: "URL",
    sentence: "Base URL of the node, which must run with --feed-blocks.",
    default: "http://127.0.0.1:4003",
    read: readNodeUrl,
  }),
  token: option({
    name: "token",
    placeholder: "TOKEN",
    sentence: 'Webhook token of the node; "uniknode token" prints it.',
    variable: "UNIKNODE_WEBHOOK_TOKEN",
    secret: true,
    read: readToken,
  }),
  databaseUrl: option({
    name: "databaseUrl",
    placeholder: "URL",
    sentence: "Database of the mirror: postgres://user:password@host:port/database.",
    secret: true,
    read: readDatabaseUrl,
  }),
  name: option({
    name: "name",
    placeholder: "NAME",
    sentence:
      "Name of this mirror in the database; the host and the process id if not given. A mirror that starts with the name of another one replaces it; the replaced one ends.",
    read: readText,
  }),
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
};

/** Number of last blocks whose changes the node stores: a mirror that the node starts needs some. */
export const feedBlocksOf = ({ mirror, feedBlocks }: Pick<Options, "mirror" | "feedBlocks">): number =>
  mirror !== undefined && feedBlocks === 0 ? MAX_FEED_BLOCKS : feedBlocks;
