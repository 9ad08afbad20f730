/** Accounts of the dev chain with their balances and public passphrases. */
import type { DevAccount, DevAccounts } from "@uniknode/client";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { Address, UnikId } from "../../components/identifier.tsx";
import { Section } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useNode, useResponse } from "../../data/node.ts";

type Row = DevAccount & { readonly name: string; readonly balance: string | undefined };

/** The richest wallets, which include every account: the genesis block gave them nearly all tokens. */
const MAX_WALLETS = 100;

const columnsOf = (symbol: string): readonly Column<Row>[] => [
  { title: "Account", narrow: "1a", cell: ({ name }) => name },
  { title: "Address", narrow: "1b", cell: ({ address }) => <Address address={address} /> },
  {
    title: `Balance ${symbol}`,
    narrow: "1c",
    cell: ({ balance }) => balance !== undefined && <Amount value={balance} />,
    isNumber: true,
  },
  { title: "Unik", cell: ({ unik }) => unik && <UnikId id={unik.id} />, isMinor: true },
  {
    title: "Passphrase",
    narrow: "2a",
    cell: ({ passphrase, name }) => (
      <span class="passphrase">
        <span title={passphrase}>{passphrase}</span>
        <CopyButton text={passphrase} what={`passphrase of ${name}`} />
      </span>
    ),
  },
  { title: "Use", narrow: "2c", cell: ({ address }) => <a href={`/console/send?from=${address}`}>Send</a> },
];

export function Accounts({ accounts, delegates, factory, foundation }: DevAccounts) {
  const { api } = useNode();
  const symbol = useSymbol();
  const { value } = useResponse("dev balances", () => api.wallets.list().page({ limit: MAX_WALLETS }));
  const balances = new Map(value?.data.map(({ address, balance }) => [address, balance]));
  const rowOf = (account: DevAccount, name: string): Row => ({
    ...account,
    name,
    balance: balances.get(account.address),
  });
  const others = [
    ...delegates.map((account, index) => rowOf(account, `delegate ${index}`)),
    rowOf(factory, "factory"),
    rowOf(foundation, "foundation"),
  ];
  const table = (caption: string, rows: readonly Row[]) => (
    <Table
      caption={caption}
      columns={columnsOf(symbol)}
      rows={rows}
      keyOf={({ address }) => address}
      empty={null}
    />
  );
  return (
    <Section title="Accounts">
      {table(
        "Accounts of the dev chain",
        accounts.map((account, index) => rowOf(account, `account ${index}`)),
      )}
      <details>
        <summary>Delegates, factory and foundation</summary>
        {table("Other accounts of the dev chain", others)}
      </details>
      <p class="quiet">These passphrases are public: never send anything of value to them.</p>
    </Section>
  );
}
