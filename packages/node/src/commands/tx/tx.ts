/** `uniknode tx`: builds, signs and sends transactions, and waits until they are forged. */
import type { Client } from "@uniknode/client";
import {
  isHighFee,
  staticFee,
  type Transaction,
  type TransactionBody,
  TransactionError,
  transactionKey,
  transactionToJson,
} from "@uniknode/protocol";
import { Command } from "commander";
import { connectionOptions } from "../../config/connection.ts";
import { optionTable, readInteger, readSwitch, readText } from "../../config/define-option.ts";
import type { Config } from "../../config/resolve.ts";
import { ConfigError } from "../../platform/coded-error.ts";
import { readJsonFile } from "../../platform/json/external.ts";
import { formOf } from "../../platform/json/form.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { spendableUnitsOf, tokensOf, unitsOf } from "../../submission/amounts.ts";
import {
  factoryPassphraseOptions,
  isConfirmed,
  passphraseOptions,
  readFactoryPassphrase,
  readPassphrase,
  readSecondPassphrase,
  secondPassphraseOptions,
} from "../../submission/passphrases.ts";
import { explainRefusal, findTransaction, post, waitUntilForged } from "../../submission/send.ts";
import { networkOf, prepareSender, type Sender, sign } from "../../submission/sender.ts";
import { connectTo, queryCommand, type Shown, show, table } from "../connection.ts";
import { addFlags, readConfig, withOptions } from "../flags.ts";
import { checkRecipients, type Kind, readHex64 } from "./kind.ts";
import { disclose, mint, transferUnik, update } from "./uniks.ts";
import {
  claim,
  ipfs,
  lock,
  multiPayment,
  refund,
  registerDelegate,
  resignDelegate,
  secondSignature,
  transfer,
  unvote,
  vote,
} from "./wallets.ts";

/** Timeout of `--wait`. */
const WAIT_TIMEOUT_MS = 120_000;

const waitOptions = optionTable({
  wait: {
    sentence: "Wait until the transaction is in a block.",
    default: false,
    read: readSwitch,
  },
});

export const txOptions = optionTable({
  ...connectionOptions,
  ...passphraseOptions,
  ...secondPassphraseOptions,
  ...factoryPassphraseOptions,
  fee: {
    placeholder: "AMOUNT",
    sentence: "Fee in tokens; if not given, the network's fee for the type.",
    read: readAmount,
  },
  nonce: {
    placeholder: "N",
    sentence: "Nonce of the transaction; if not given, the wallet's next nonce.",
    read: readInteger(1, Number.MAX_SAFE_INTEGER),
  },
  dryRun: {
    sentence: "Build, sign and print the transaction without sending it.",
    default: false,
    read: readSwitch,
  },
  ...waitOptions,
});

const postOptions = { ...connectionOptions, ...waitOptions };

/** Checks an amount and returns it as text, because numbers are limited to 2^53. */
function readAmount(value: unknown): string {
  const text = readText(value);
  spendableUnitsOf(text);
  return text;
}

const KINDS: readonly Kind[] = [
  transfer,
  multiPayment,
  vote,
  unvote,
  mint,
  update,
  transferUnik,
  disclose,
  registerDelegate,
  resignDelegate,
  secondSignature,
  lock,
  claim,
  refund,
  ipfs,
];

export function txCommand(): Command {
  const command = new Command("tx");
  for (const kind of KINDS) command.addCommand(kindCommand(kind));
  return command.addCommand(postCommand()).addCommand(showCommand());
}

function kindCommand(kind: Kind): Command {
  const command = addFlags(kind.command(), txOptions);
  return command.action(async () => {
    const config = readConfig(command, txOptions);
    const build = kind.createBuild(command);
    const client = connectTo(config);
    const keys = await readPassphrase(config);
    const fee = config.fee === undefined ? undefined : unitsOf(config.fee);
    const nonce = config.nonce === undefined ? undefined : BigInt(config.nonce);
    const sender = await prepareSender(client, await networkOf(client), { keys, fee, nonce });
    const readSecondKeys = () => readSecondPassphrase(config);
    const readFactoryKeys = () => readFactoryPassphrase(config);
    const body = await withUsageErrors(async () => build({ ...sender, readSecondKeys, readFactoryKeys }));
    checkRecipients(body, sender);
    if (!config.dryRun) await confirmFee(body, sender);
    const signed = await sign(body, sender, readSecondKeys);
    await submit(transactionToJson(signed) as SignedJson, config, costOf(signed)).catch(
      async (error: unknown) => {
        throw await explainRefusal(error, signed, sender);
      },
    );
  });
}

/** @throws {ConfigError} instead of the builder's error, which names an argument */
async function withUsageErrors(build: () => Promise<TransactionBody>): Promise<TransactionBody> {
  try {
    return await build();
  } catch (error) {
    throw error instanceof TransactionError ? new ConfigError(error.message) : error;
  }
}

/**
 * Asks before a fee that is probably a mistake is paid.
 *
 * @throws {ConfigError} unless it is confirmed
 */
async function confirmFee(body: TransactionBody, { network, envelope }: Sender): Promise<void> {
  const usual = staticFee(body, network.milestoneAt(envelope.height));
  if (!isHighFee(body.fee, usual)) return;
  const { symbol } = network.description.client;
  const text = `a fee of ${tokensOf(body.fee)} ${symbol}; the usual one is ${tokensOf(usual)}`;
  if (await isConfirmed(`This pays ${text}. Continue?`)) return;
  throw new ConfigError(
    `not sent: it would pay ${text}. If you mean it, confirm it in a terminal, or sign with --dry-run --json and send the result with "uniknode tx post"`,
  );
}

const SignedJson = Type.Object({ id: Type.String() });
type SignedJson = Static<typeof SignedJson> & Readonly<Record<string, unknown>>;

const TRANSACTION_FILE = {
  purpose: "transaction file",
  form: formOf(
    Type.Union([Type.Object({ transaction: SignedJson }), SignedJson], {
      description: "a transaction with its id",
    }),
  ),
  remedy: 'give a file with the output of "uniknode tx ... --dry-run --json"',
};

function postCommand(): Command {
  const command = new Command("post")
    .description("send a signed transaction that --dry-run --json printed")
    .argument("<file>", "JSON file of the transaction");
  return withOptions(command, postOptions, async (config, file: string) => {
    const content = readJsonFile(file, TRANSACTION_FILE);
    const transaction: SignedJson = "transaction" in content ? content.transaction : content;
    await submit(transaction, { ...config, dryRun: false }, []);
  });
}

const showCommand = (): Command =>
  queryCommand(
    new Command("show")
      .description("show a forged or pending transaction")
      .argument("<id>", "id of the transaction, 64 hexadecimal digits", readHex64),
    showTransaction,
  );

async function showTransaction(client: Client, id: string): Promise<Shown> {
  const found = await findTransaction(client, id);
  const { typeGroup, type, blockId, confirmations } = found;
  return [
    found,
    table([
      ["id", id],
      ["type", transactionKey(typeGroup, type)],
      ["sender", found.sender],
      ["recipient", found.recipient],
      ["amount", tokensOf(BigInt(found.amount))],
      ["fee", tokensOf(BigInt(found.fee))],
      ["message", found.vendorField],
      ["time", found.timestamp?.human],
      ["state", blockId ? `forged in block ${blockId}, ${confirmations} confirmations` : "pending"],
    ]),
  ];
}

type SubmitConfig = Config<typeof postOptions> & { readonly dryRun: boolean };

/** Sends the transaction unless it is a dry run, waits for its block with --wait, and prints its state. */
async function submit(
  transaction: SignedJson,
  config: SubmitConfig,
  lines: readonly string[],
): Promise<void> {
  const { id } = transaction;
  const showState = (state: string, text: string, more: object = {}) =>
    show(config, { id, state, ...more, transaction }, [
      ...table([["id", id]]),
      ...lines,
      ...table([["state", text]]),
    ]);

  if (config.dryRun) return showState("signed", "signed, not sent; --json prints the transaction");
  const client = connectTo(config);
  const known = await post(client, transaction);
  if (known?.blockId) {
    const { blockId, confirmations } = known;
    return showState("forged", `sent before, and forged in block ${blockId}`, { blockId, confirmations });
  }
  if (!config.wait) return showState("accepted", "accepted; pending until a block contains it");
  const { blockId, confirmations } = await waitUntilForged(client, id, WAIT_TIMEOUT_MS);
  showState("forged", `forged in block ${blockId}`, { blockId, confirmations });
}

const costOf = ({ amount, fee, nonce }: Transaction): string[] =>
  table([
    ["amount", amount > 0n ? tokensOf(amount) : undefined],
    ["fee", tokensOf(fee)],
    ["nonce", `${nonce}`],
  ]);
