/** `uniknode wallet`: creates a wallet, or shows the address of a passphrase or a wallet of the chain. */
import { generateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { Client } from "@uniknode/client";
import {
  addressFromPublicKey,
  bytesToHex,
  type KeyPair,
  keysFromPassphrase,
  presets,
} from "@uniknode/protocol";
import { Command } from "commander";
import { connectionOptions } from "../config/connection.ts";
import { optionTable, readChoice } from "../config/define-option.ts";
import type { Config } from "../config/resolve.ts";
import { present } from "../platform/present.ts";
import { tokensOf } from "../submission/amounts.ts";
import { passphraseOptions, readPassphrase } from "../submission/passphrases.ts";
import { connectTo, queryCommand, type Shown, show, table } from "./connection.ts";
import { withOptions } from "./flags.ts";

const newOptions = optionTable({
  ...connectionOptions,
  network: {
    placeholder: "NAME",
    sentence: `Network of the address: ${Object.keys(presets).join(", ")}; default: network of the node at the URL.`,
    read: readChoice(...Object.keys(presets)),
  },
});
const addressOptions = { ...newOptions, ...passphraseOptions };

export function walletCommand(): Command {
  return new Command("wallet")
    .addCommand(newCommand())
    .addCommand(addressCommand())
    .addCommand(showCommand());
}

function newCommand(): Command {
  const command = new Command("new").description(
    "create a passphrase of twelve words and show its address; nothing is stored",
  );
  return withOptions(command, newOptions, async (config) => {
    const passphrase = generateMnemonic(wordlist);
    const identity = await toIdentity(keysFromPassphrase(passphrase), config);
    show(config, { passphrase, ...identity }, [...table([["passphrase", passphrase]]), ...toLines(identity)]);
  });
}

function addressCommand(): Command {
  return withOptions(
    new Command("address").description("show the address of a passphrase"),
    addressOptions,
    async (config) => {
      const identity = await toIdentity(await readPassphrase(config), config);
      show(config, identity, toLines(identity));
    },
  );
}

const showCommand = (): Command =>
  queryCommand(
    new Command("show")
      .description("show a wallet of the chain")
      .argument("<id>", "address, public key or delegate username"),
    showWallet,
  );

async function showWallet({ wallets }: Client, id: string): Promise<Shown> {
  const { data: wallet } = await wallets.get(id);
  const { lockedBalance, attributes } = wallet;
  return [
    wallet,
    table([
      ["address", wallet.address],
      ["public key", wallet.publicKey],
      ["balance", tokensOf(BigInt(wallet.balance))],
      ["locked", lockedBalance && tokensOf(BigInt(lockedBalance))],
      ["sent", wallet.nonce],
      ["delegate", wallet.username],
      ["votes for", wallet.vote],
      ["second key", wallet.secondPublicKey ?? undefined],
      ["uniks", Object.keys(attributes.tokens ?? {}).join(" ")],
    ]),
  ];
}

type Identity = { readonly address: string; readonly publicKey: string };

async function toIdentity({ publicKey }: KeyPair, config: Config<typeof newOptions>): Promise<Identity> {
  const text = bytesToHex(publicKey);
  return { address: addressFromPublicKey(text, await addressVersion(config)), publicKey: text };
}

async function addressVersion(config: Config<typeof newOptions>): Promise<number> {
  if (config.network !== undefined)
    return present(presets[config.network], config.network).network.pubKeyHash;
  return (await connectTo(config).node.configuration()).data.version;
}

const toLines = ({ address, publicKey }: Identity) =>
  table([
    ["address", address],
    ["public key", publicKey],
  ]);
