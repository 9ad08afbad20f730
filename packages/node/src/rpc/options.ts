/** Every option of `uniknode rpc`. */
import { connectionOptions } from "../config/connection.ts";
import { option, readHosts, readInteger, readRanges, readText } from "../config/option.ts";
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
    sentence: "Addresses and networks of accepted callers, separated by commas; * for all.",
    default: "127.0.0.1,::1",
    read: readRanges,
  }),
  rpcHosts: option({
    name: "rpcHosts",
    placeholder: "NAMES",
    sentence:
      "Names and addresses of this machine, separated by commas, that requests may have as Host, beside localhost and the address they arrive at.",
    default: [],
    read: readHosts,
  }),
  rpcBip38Rate: option({
    name: "rpcBip38Rate",
    placeholder: "N",
    sentence:
      "Calls per minute, of all callers together, that derive keys from a password (bip38); 0 for no limit.",
    default: 60,
    read: readInteger(0, 1_000_000),
  }),
  rpcData: option({
    name: "rpcData",
    placeholder: "FILE",
    sentence:
      "Database of created transactions and of keys; :memory: keeps them only while the process runs.",
    default: "json-rpc.sqlite",
    read: readText,
  }),
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
};
