/** The accounts of a dev chain as text and as JSON. */
import type { DevAccount } from "./keys.ts";
import { type Cast, DEV_SYMBOL, KINDS, type Kind } from "./network.ts";

export type AccountsContent = {
  readonly cast: Cast;
  readonly mnemonic: string;
  /** Returns a balance at the head, in the smallest unit; undefined while there is no chain. */
  readonly balanceOf: (address: string) => bigint | undefined;
};

type ShownUnik = { readonly id: string; readonly kind: Kind };

/** All data of an account; amounts as texts in the smallest unit. */
export type ShownAccount = {
  readonly address: string;
  readonly passphrase: string;
  readonly publicKey: string;
  readonly balance?: string;
  readonly unik?: ShownUnik;
};

export type ShownAccounts = {
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
/** Positions before a group of three digits. The formatter of the runtime takes 18 ms to load its locales. */
const GROUPS = /\B(?=(\d{3})+$)/g;

/** An amount in tokens: grouped, without trailing zeros. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % UNIT).toString().padStart(8, "0").replace(/0+$/, "");
  return `${sign}${(absolute / UNIT).toString().replace(GROUPS, ",")}${fraction ? `.${fraction}` : ""}`;
}
