/** Every option of `uniknode rpc`. */
import { connectionOptions } from "../config/connection.ts";
import { option, readInteger, readRanges, readText } from "../config/option.ts";
import { nodeOptions } from "../config/options.ts";

export const rpcOptions = {
  url: connectionOptions.url,
  rpcHost: option({
    name: "rpcHost",
    placeholder: "HOST",
    sentence: "Address to listen on. Callers send passphrases: leave it at loopback, or put TLS in front.",
    default: "127.0.0.1",
    read: readText,
  }),
  rpcPort: option({
    name: "rpcPort",
    placeholder: "PORT",
    sentence: "Port to listen on; 0 takes a free one and prints it.",
    default: 8080,
    read: readInteger(0, 65535),
  }),
  rpcAllow: option({
    name: "rpcAllow",
    placeholder: "RANGES",
    sentence: "Addresses and networks that may call, separated by commas; * for all.",
    default: "127.0.0.1,::1",
    read: readRanges,
  }),
  rpcData: option({
    name: "rpcData",
    placeholder: "FILE",
    sentence: "Database of transactions that wait to be sent, and of keys; :memory: forgets them at the end.",
    default: "json-rpc.sqlite",
    read: readText,
  }),
  logLevel: nodeOptions.logLevel,
};
