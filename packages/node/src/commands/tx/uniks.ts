/** Commands for unik transactions. Some networks require a factory to certify them; a dev chain has a factory. */
import { builders } from "@uniknode/protocol";
import type { Command } from "commander";
import { ConfigError } from "../../platform/coded-error.ts";
import { present } from "../../platform/present.ts";
import { SendError } from "../../submission/sender.ts";
import {
  type BuildContext,
  kind,
  readAddress,
  readAnother,
  readHex64,
  readPair,
  readTokens,
  readUnikType,
} from "./kind.ts";

type Pairs = readonly (readonly [string, string])[];
/** The unik id of the certifying factory, and its price in the smallest unit. */
type WithFactory = { readonly factory?: string; readonly cost?: bigint };

const ID = "id of the unik, 64 hexadecimal digits";
const PROPERTY = ["--property <NAME=VALUE>", "Property to set; may be given several times."] as const;

const withFactory = (command: Command): Command =>
  command
    .option("--factory <UNIK>", "Unik of the factory that certifies it.", readHex64)
    .option("--cost <AMOUNT>", "Price paid to the factory, in tokens (default: 0).", readTokens);

export const mint = kind<[tokenId: string, type: number], WithFactory & { readonly property?: Pairs }>(
  "mint",
  "create a unik",
  (command) =>
    withFactory(command)
      .argument("<unik>", ID, readHex64)
      .argument("<type>", "type of the unik: individual, organization or network", readUnikType)
      .option(...PROPERTY, readPair),
  ([tokenId, type], { property = [], ...terms }) => {
    if (property.some(([name]) => name === "type")) {
      throw new ConfigError("mint: the type is the second argument, not a --property");
    }
    const token = { tokenId, properties: { type: `${type}`, ...Object.fromEntries(property) } };
    return async (given) => {
      const { envelope } = given;
      const certified = await createCertificate(given, terms);
      return certified
        ? builders.certifiedMint({ ...envelope, ...token, ...certified })
        : builders.nftMint({ ...envelope, ...token });
    };
  },
);

export const update = kind<
  [tokenId: string],
  WithFactory & { readonly property?: Pairs; readonly remove?: readonly string[] }
>(
  "update",
  "change properties of a unik",
  (command) =>
    withFactory(command)
      .argument("<unik>", ID, readHex64)
      .option(...PROPERTY, readPair)
      .option("--remove <NAME>", "Property to remove; may be given several times.", readAnother),
  ([tokenId], { property = [], remove = [], ...terms }) => {
    const changes: (readonly [string, string | null])[] = [
      ...property,
      ...remove.map((name) => [name, null] as const),
    ];
    if (changes.length === 0)
      throw new ConfigError("update: at least one --property or --remove is required");
    const both = property.find(([name]) => remove.includes(name));
    if (both) throw new ConfigError(`update: ${both[0]} cannot be both set and removed`);
    const token = { tokenId, properties: Object.fromEntries(changes) };
    return async (given) => {
      const { envelope } = given;
      const certified = await createCertificate(given, terms);
      return certified
        ? builders.certifiedUpdate({ ...envelope, ...token, ...certified })
        : builders.nftUpdate({ ...envelope, ...token });
    };
  },
);

export const transferUnik = kind<[tokenId: string, recipientId: string], WithFactory>(
  "transfer-unik",
  "transfer a unik to an address",
  (command) =>
    withFactory(command)
      .argument("<unik>", ID, readHex64)
      .argument("<address>", "address of the new owner", readAddress),
  ([tokenId, recipientId], terms) =>
    async (given) => {
      const { envelope } = given;
      const certified = await createCertificate(given, terms);
      return certified
        ? builders.certifiedTransfer({ ...envelope, tokenId, recipientId, ...certified })
        : builders.nftTransfer({ ...envelope, tokenId, recipientId });
    },
);

export const disclose = kind<[tokenId: string, names: readonly string[]], { readonly factory?: string }>(
  "disclose",
  "publish the names of a unik",
  (command) =>
    command
      .argument("<unik>", ID, readHex64)
      .argument("<name...>", "names to disclose; explorers show the first")
      .requiredOption("--factory <UNIK>", "Unik of the factory that certifies it.", readHex64),
  ([tokenId, explicitValues], terms) =>
    async (given) => {
      const { client, envelope, wallet, address } = given;
      // The chain verifies the demand with the owner's public key before this transaction publishes the key.
      if (!wallet?.publicKey) {
        throw new SendError(
          { code: "SEND_NOTHING_THERE", address },
          `the chain does not know the public key of ${address} yet: send any other transaction first`,
        );
      }
      const { data: unik } = await client.uniks.get(tokenId);
      const certified = present(await createCertificate(given, terms), "the factory");
      const kind = Number(unik.type);
      return builders.certifiedDisclosure({ ...envelope, tokenId, explicitValues, kind, ...certified });
    },
);

/** Creates the demand and the certification; undefined without a factory. */
async function createCertificate(
  { keys, readFactoryKeys }: BuildContext,
  { factory, cost = 0n }: WithFactory,
) {
  if (factory === undefined) {
    if (cost > 0n) throw new ConfigError("--cost requires --factory");
    return undefined;
  }
  const issuedAt = Math.floor(Date.now() / 1_000);
  return { keys, issuedAt, cost, factory: { tokenId: factory, keys: await readFactoryKeys() } };
}
