/** Output of the dev chain: its accounts as text and as JSON, and the terminal while it runs. */
import type { BlockHeader } from "@uniknode/protocol";
import { countOf } from "../platform/text/wording.ts";
import type { DevAccount } from "./keys.ts";
import { type Cast, DEV_SYMBOL, KINDS, type Kind } from "./network.ts";

type AccountsContent = {
  readonly cast: Cast;
  readonly mnemonic: string;
  /** Returns a balance at the head, in the smallest unit; undefined while there is no chain. */
  readonly balanceOf: (address: string) => bigint | undefined;
};

type ShownUnik = { readonly id: string; readonly kind: Kind };

/** Data of an account; amounts are texts in the smallest unit. */
type ShownAccount = {
  readonly address: string;
  readonly passphrase: string;
  readonly publicKey: string;
  readonly balance?: string;
  readonly unik?: ShownUnik;
};

type ShownAccounts = {
  readonly accounts: readonly ShownAccount[];
  readonly delegates: readonly ShownAccount[];
  readonly factory: ShownAccount;
  readonly foundation: ShownAccount;
  readonly mnemonic: string;
};

export function showAccounts({ cast, mnemonic, balanceOf }: AccountsContent): ShownAccounts {
  function shown({ address, passphrase, publicKey, unikId }: DevAccount, kind?: Kind): ShownAccount {
    const balance = balanceOf(address);
    return {
      address,
      passphrase,
      publicKey,
      ...(balance !== undefined && { balance: `${balance}` }),
      ...(kind !== undefined && { unik: { id: unikId, kind } }),
    };
  }
  return {
    accounts: cast.accounts.map((account, index) => shown(account, KINDS[index])),
    delegates: cast.delegates.map(({ account, kind }) => shown(account, kind)),
    factory: shown(cast.factory, "organization"),
    foundation: shown(cast.foundation),
    mnemonic,
  };
}

export const accountsText = ({ accounts, delegates, factory, foundation, mnemonic }: ShownAccounts) => [
  ...heading("Accounts"),
  ...accounts.flatMap((account, index) => accountLines(`(${index})`, account)),
  "",
  ...heading("Delegates, each owning one unik"),
  ...delegates.flatMap((account, index) => accountLines(`(${index})`, account)),
  "",
  ...heading("Factory: its unik certifies mints, updates and disclosures"),
  ...accountLines("   ", factory),
  "",
  ...heading("Foundation"),
  ...accountLines("   ", foundation),
  "",
  ...heading("Mnemonic"),
  `  ${mnemonic}`,
  "  These keys are public knowledge. Never send anything of value to them.",
];

const heading = (text: string): string[] => [text, "=".repeat(text.length)];

const accountLines = (mark: string, account: ShownAccount): string[] => [
  `  ${mark} ${account.address}${account.balance === undefined ? "" : `  ${formatAmount(BigInt(account.balance))} ${DEV_SYMBOL}`}`,
  `      passphrase  ${account.passphrase}`,
  `      public key  ${account.publicKey}`,
  ...(account.unik ? [`      unik        ${account.unik.id} (${account.unik.kind})`] : []),
];

const UNIT = 100_000_000n;
/** Matches positions before a group of three digits. The formatter of the runtime takes 18 ms to load its locales. */
const GROUPS = /\B(?=(\d{3})+$)/g;

/** Formats an amount in tokens: grouped, without trailing zeros. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % UNIT).toString().padStart(8, "0").replace(/0+$/, "");
  return `${sign}${(absolute / UNIT).toString().replace(GROUPS, ",")}${fraction ? `.${fraction}` : ""}`;
}

type ScreenContent = {
  /** Versions of protocol and program. */
  readonly versions: string;
  readonly baseUrl: string;
  /** URL that signs in at the console, once; undefined without a console. */
  readonly consoleUrl: string | undefined;
  readonly webhookToken: string;
  /** Command lines that show the token (unless it was given), every account, and events. */
  readonly commands: {
    readonly token: string | undefined;
    readonly accounts: string;
    readonly listen: string;
  };
  readonly data: string;
  readonly cast: Cast;
  /** Returns a balance at the head, in the smallest unit. */
  readonly balanceOf: (address: string) => bigint;
  readonly isContinued: boolean;
  readonly height: number;
};

const SHOWN_ACCOUNTS = 3;

/**
 * Returns the text at the start. It fits on a terminal of 24 lines, between the output of npm and the status
 * line.
 */
export function startScreen(content: ScreenContent): string {
  const { cast, baseUrl, commands } = content;
  return [
    `Uniknode (${content.versions}), dev chain${content.isContinued ? `, continued at height ${content.height}` : ""}`,
    "",
    ...(content.consoleUrl === undefined ? [] : [`Console        ${content.consoleUrl}`]),
    `API            ${baseUrl}/api/v2/blockchain`,
    `Documentation  ${baseUrl}/documentation`,
    `Webhook token  ${content.webhookToken}`,
    ...(commands.token === undefined ? [] : [`               show it again with: ${commands.token}`]),
    `Watch events   ${commands.listen}`,
    `Data           ${content.data}`,
    "",
    `Accounts (${Math.min(SHOWN_ACCOUNTS, cast.accounts.length)} of ${cast.accounts.length}; all, with delegates and uniks: ${commands.accounts})`,
    ...cast.accounts
      .slice(0, SHOWN_ACCOUNTS)
      .flatMap(({ address, passphrase }) => [
        `  ${address}  ${formatAmount(content.balanceOf(address))} ${DEV_SYMBOL}`,
        `    ${passphrase}`,
      ]),
    "",
    "These passphrases are public knowledge. Never send anything of value to them.",
    "Ctrl-C stops the chain. The next start continues it; --reset starts over.",
  ].join("\n");
}

export const revertLine = (blocks: number, height: number): string =>
  `reverted ${countOf(blocks, "blocks")}, back at height ${height}`;

export function blockLine(header: BlockHeader, forger: string | undefined): string {
  const count = header.numberOfTransactions;
  const content = count === 0 ? "empty" : countOf(count, "transactions");
  return `block ${header.height}  ${header.id.slice(0, 12)}  ${content}  by ${forger ?? header.generatorPublicKey}`;
}
