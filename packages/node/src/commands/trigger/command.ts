/** `uniknode trigger`: causes an event on a dev chain and waits until it is delivered. */
import { createHash, randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { type Client, type Delivery, jsonText } from "@uniknode/client";
import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  keysFromPassphrase,
  transactionToJson,
} from "@uniknode/protocol";
import { Command } from "commander";
import { devOptions } from "../../config/options.ts";
import { resolveConfig } from "../../config/resolve.ts";
import { isDevFolder, readShape } from "../../dev-chain/folder.ts";
import { deriveAccounts } from "../../dev-chain/keys.ts";
import { type Cast, castOf, DEV_ADDRESS_VERSION } from "../../dev-chain/network.ts";
import { CodedError, ConfigError } from "../../platform/coded-error.ts";
import { present } from "../../platform/present.ts";
import { mostSimilar } from "../../platform/text/wording.ts";
import { post } from "../../submission/send.ts";
import { networkOf, prepareSender, sign } from "../../submission/sender.ts";
import { show, table } from "../connection.ts";
import { withOptions } from "../flags.ts";
import { listenOptions, startListening } from "../listen/listen.ts";
import { columns } from "../print.ts";
import { tokenOf } from "../token.ts";
import { connectWithToken, serviceOptions } from "../webhooks/service.ts";
import { CAUSES, type Cause, type TriggerChain } from "./causes.ts";

const options = { ...serviceOptions, data: devOptions.data };
/** Maximum time from the cause to the delivery. */
const DELIVERY_TIMEOUT_MS = 15_000;

export function triggerCommand(): Command {
  const command = new Command("trigger")
    .argument("[event]", "name of the event; --list shows all events")
    .option("--list", "Show how each event is caused, or why it cannot be.");
  return withOptions(command, options, async (config, event: string | undefined) => {
    if (command.opts<{ list?: boolean }>().list) return show(config, CAUSES, listLines());
    const { name, cause } = causeOf(event);
    const cast = castIn(config.data);
    const token = tokenOf(config);
    await untilSignal(name, async (signal) => {
      const { client, connection } = connectWithToken({ ...config, token }, signal);
      const chain = await openTriggerChain(client, cast);
      const seen = Promise.withResolvers<Delivery>();
      // The cause may fail before.
      seen.promise.catch(() => {});
      signal.addEventListener("abort", () => seen.reject(signal.reason));
      const flags = { url: config.url, token, event: [name] };
      const listening = await startListening(resolveConfig(listenOptions, { flags, environment: {} }), {
        onRequest: (received) => {
          if ("delivery" in received && received.delivery.event === name) seen.resolve(received.delivery);
        },
        report: () => {},
      });
      let timer: NodeJS.Timeout | undefined;
      try {
        await cause(chain);
        timer = setTimeout(() => seen.reject(tooLate(name)), DELIVERY_TIMEOUT_MS);
        const delivery = await seen.promise;
        show(connection, delivery, linesOf(delivery));
      } finally {
        clearTimeout(timer);
        await listening.stop();
      }
    });
  });
}

const linesOf = ({ event, height, id, data }: Delivery): string[] => [
  ...table([
    ["event", event],
    ["height", height],
    ["webhook-id", id],
  ]),
  jsonText(data),
];

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs work that the first signal aborts, so that it can remove its webhook. A second signal ends the process. */
async function untilSignal(event: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => stopping.abort(interrupted(event, signal));
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    await work(stopping.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

const interrupted = (event: string, signal: NodeJS.Signals) =>
  new CodedError("TRIGGER", `${signal} before ${event} was delivered; no webhook is left`, {
    isRetryable: true,
  });

const tooLate = (event: string) =>
  new CodedError(
    "TRIGGER",
    `${event} was caused but not delivered within ${DELIVERY_TIMEOUT_MS / 1_000} s; check "uniknode status" and retry`,
    { isRetryable: true },
  );

/** @throws {ConfigError} on an unknown event, or an event that cannot be triggered */
function causeOf(event: string | undefined): Cause & { readonly name: string } {
  const list = '"uniknode trigger --list" shows all events';
  if (event === undefined) throw new ConfigError(`missing event name; ${list}`);
  const known = Object.hasOwn(CAUSES, event) ? CAUSES[event] : undefined;
  if (known === undefined) {
    const similar = mostSimilar(event, Object.keys(CAUSES));
    const hint = similar === undefined ? "" : `did you mean ${similar}? `;
    throw new ConfigError(`${JSON.stringify(event)} is not an event; ${hint}${list}`);
  }
  if ("why" in known) throw new ConfigError(`${event} cannot be triggered: it ${known.why}`);
  return { name: event, ...known };
}

/** Reads the accounts of the dev chain, which pay. */
function castIn(folder: string): Cast {
  if (!isDevFolder(folder)) {
    throw new ConfigError(
      `${resolve(folder)} does not contain a dev chain, which triggers require: start one with "uniknode dev", ` +
        "or give its folder with --data",
    );
  }
  const { mnemonic, accounts } = readShape(folder);
  return castOf(deriveAccounts(mnemonic, DEV_ADDRESS_VERSION), accounts);
}

const listLines = (): string[] =>
  columns(
    ["EVENT", "TRIGGER"],
    Object.entries(CAUSES).map(([event, known]) => [
      event,
      "how" in known ? known.how : `cannot be triggered: it ${known.why}`,
    ]),
  );

/** Tokens of a new wallet: enough for the most expensive transaction. */
const FUNDS = 60n * 100_000_000n;

async function openTriggerChain(client: Client, cast: Cast): Promise<TriggerChain> {
  const network = await networkOf(client);
  const payer = present(cast.accounts[0], "an account with funds");

  const chain: TriggerChain = {
    client,
    cast,
    payer,
    async send({ keys }, build) {
      const sender = await prepareSender(client, network, { keys });
      const noSecondKey = () => Promise.reject(new Error("wallets of a trigger have no second passphrase"));
      const signed = await sign(build(sender), sender, noSecondKey);
      await post(client, transactionToJson(signed) as { id: string });
    },
    async mine(blocks = 1) {
      await client.dev.mine({ blocks });
    },
    async newWallet() {
      const keys = keysFromPassphrase(randomBytes(16).toString("hex"));
      const address = addressFromPublicKey(bytesToHex(keys.publicKey), network.description.pubKeyHash);
      await chain.send(payer, ({ envelope }) =>
        builders.transfer({ ...envelope, recipientId: address, amount: FUNDS }),
      );
      await chain.mine();
      return { keys, address };
    },
    async newOwner() {
      const wallet = await chain.newWallet();
      const tokenId = createHash("sha256").update(wallet.keys.publicKey).digest("hex");
      await chain.send(wallet, ({ envelope }) =>
        builders.nftMint({ ...envelope, tokenId, properties: { type: "1" } }),
      );
      await chain.mine();
      return { ...wallet, tokenId };
    },
  };
  return chain;
}
