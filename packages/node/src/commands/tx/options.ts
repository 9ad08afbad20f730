/** Options of the commands that send transactions. */
import { connectionOptions } from "../../config/connection.ts";
import { option, readInteger, readSwitch, readText } from "../../config/define-option.ts";
import { spendableUnitsOf } from "../../submission/amounts.ts";
import {
  factoryPassphraseOptions,
  passphraseOptions,
  secondPassphraseOptions,
} from "../../submission/options.ts";

const waitOptions = {
  wait: option({
    name: "wait",
    sentence: "Wait until the transaction is in a block.",
    default: false,
    read: readSwitch,
  }),
  waitTimeout: option({
    name: "waitTimeout",
    placeholder: "SECONDS",
    sentence: "Timeout in seconds for --wait.",
    default: 120,
    read: readInteger(1, 86_400),
  }),
};

export const txOptions = {
  ...connectionOptions,
  ...passphraseOptions,
  ...secondPassphraseOptions,
  ...factoryPassphraseOptions,
  fee: option({
    name: "fee",
    placeholder: "AMOUNT",
    sentence: "Fee in tokens; if not given, the network's fee for the type.",
    read: readAmount,
  }),
  nonce: option({
    name: "nonce",
    placeholder: "N",
    sentence: "Nonce of the transaction; if not given, the wallet's next nonce.",
    read: readInteger(1, Number.MAX_SAFE_INTEGER),
  }),
  dryRun: option({
    name: "dryRun",
    sentence: "Build, sign and print the transaction without sending it.",
    default: false,
    read: readSwitch,
  }),
  ...waitOptions,
};

export const postOptions = { ...connectionOptions, ...waitOptions };

/** Checks an amount and returns it as text, because numbers are limited to 2^53. */
function readAmount(value: unknown): string {
  const text = readText(value);
  spendableUnitsOf(text);
  return text;
}
