/** The texts of the dev chain on the terminal. */
import type { BlockHeader } from "@uniknode/protocol";
import type { DevAccount } from "./keys.ts";
import { type Cast, KINDS } from "./network.ts";

export type ScreenContent = {
  readonly version: string;
  readonly baseUrl: string;
  readonly webhookToken: string;
  readonly dataDir: string;
  readonly mnemonic: string;
  readonly cast: Cast;
  /** In the smallest unit, at the head. */
  readonly balanceOf: (address: string) => bigint;
  readonly isContinued: boolean;
  readonly height: number;
};

const UNIT = 100_000_000n;

/** An amount in tokens: grouped, without trailing zeros. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % UNIT).toString().padStart(8, "0").replace(/0+$/, "");
  return `${sign}${(absolute / UNIT).toLocaleString("en-US")}${fraction ? `.${fraction}` : ""}`;
}

/** The text at the start: addresses, accounts and keys. */
export function startScreen(content: ScreenContent): string {
  const { cast, baseUrl } = content;
  return [
    `Uniknode ${content.version}, dev chain${content.isContinued ? ` (continued at height ${content.height})` : ""}`,
    "",
    `  API             ${baseUrl}/api/v2/blockchain`,
    `  Webhooks        ${baseUrl}/api/v2/webhooks`,
    `  Webhook token   ${content.webhookToken}`,
    `  Receive them    npm start -- listen --url ${baseUrl} --token ${content.webhookToken}`,
    `  Verbs           ${baseUrl}/api/dev/{mine,reorg,snapshot,restore,travel,forge}`,
    `  Data            ${content.dataDir}`,
    "",
    heading("Accounts"),
    ...cast.accounts.flatMap((account, index) => [
      ...accountLines(`(${index})`, account, content),
      ...(KINDS[index] ? [`      unik        ${account.unikId} (${KINDS[index]})`] : []),
    ]),
    "",
    heading("Delegates, each owning one unik"),
    ...cast.delegates.flatMap(({ account, kind }, index) => [
      ...accountLines(`(${index})`, account, content),
      `      unik        ${account.unikId} (${kind})`,
    ]),
    "",
    heading("Factory: its unik certifies mints, updates and disclosures"),
    ...accountLines("   ", cast.factory, content),
    `      unik        ${cast.factory.unikId} (organization)`,
    "",
    heading("Foundation"),
    ...accountLines("   ", cast.foundation, content),
    "",
    heading("Mnemonic"),
    `  ${content.mnemonic}`,
    "  These keys are public knowledge. Never send anything of value to them.",
    "",
    "Ctrl-C stops; starting again continues this chain; --reset starts over.",
    "",
  ].join("\n");
}

const heading = (text: string): string => `${text}\n${"=".repeat(text.length)}`;

const accountLines = (mark: string, account: DevAccount, { balanceOf }: ScreenContent): string[] => [
  `  ${mark} ${account.address}  ${formatAmount(balanceOf(account.address))} DEVUNIK`,
  `      passphrase  ${account.passphrase}`,
  `      public key  ${account.publicKey}`,
];

/** The line of a revert. */
export const revertLine = (blocks: number, height: number): string =>
  `reverted ${blocks} block${blocks === 1 ? "" : "s"}, back at height ${height}`;

/** The line of a block. */
export function blockLine(header: BlockHeader, forger: string | undefined): string {
  const count = header.numberOfTransactions;
  const content = count === 0 ? "empty" : `${count} transaction${count === 1 ? "" : "s"}`;
  return `block ${header.height}  ${header.id.slice(0, 12)}  ${content}  by ${forger ?? header.generatorPublicKey}`;
}
