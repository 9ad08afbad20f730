/** Accounts of the dev chain with their public passphrases. */
import type { DevAccount, DevAccounts } from "@uniknode/client";
import { CopyButton } from "../../components/copy-button.tsx";
import { Address, UnikId } from "../../components/identifier.tsx";
import { Section } from "../../components/page.tsx";
import { type Column, Table } from "../../components/table.tsx";

type Row = DevAccount & { readonly name: string };

const COLUMNS: readonly Column<Row>[] = [
  { title: "Account", narrow: "1a", cell: ({ name }) => name },
  { title: "Address", narrow: "1b", cell: ({ address }) => <Address address={address} /> },
  { title: "Unik", cell: ({ unik }) => unik && <UnikId id={unik.id} /> },
  { title: "Type", cell: ({ unik }) => unik?.kind },
  {
    title: "Passphrase",
    narrow: "2a",
    cell: ({ passphrase, name }) => (
      <span>
        {passphrase} <CopyButton text={passphrase} what={`passphrase of ${name}`} />
      </span>
    ),
  },
  { title: "Use", narrow: "1c", cell: ({ address }) => <a href={`/console/send?from=${address}`}>Send</a> },
];

export function Accounts({ accounts, delegates, factory, foundation }: DevAccounts) {
  const rows = [
    ...accounts.map((account, index) => ({ ...account, name: `account ${index}` })),
    ...delegates.map((account, index) => ({ ...account, name: `delegate ${index}` })),
    { ...factory, name: "factory" },
    { ...foundation, name: "foundation" },
  ];
  return (
    <Section
      title="Accounts"
      aside={<span class="quiet">These passphrases are public: never send anything of value to them.</span>}
    >
      <Table
        caption="Accounts of the dev chain"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ address }) => address}
        empty={null}
      />
    </Section>
  );
}
