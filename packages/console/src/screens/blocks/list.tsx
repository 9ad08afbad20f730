/** List of blocks. */
import type { Block, BlockOrder } from "@uniknode/client";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { BlockFill } from "../../components/block-fill.tsx";
import { DelegateName } from "../../components/delegate-name.tsx";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { publicKeyFault } from "../../components/faults.ts";
import { areValid, type FilterField, Filters } from "../../components/filters.tsx";
import { countText } from "../../components/format.ts";
import { BlockId, hrefOf } from "../../components/identifier.tsx";
import { orderFrom, useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useNode } from "../../data/node.ts";

const ORDERS: readonly { readonly value: BlockOrder | ""; readonly label: string }[] = [
  { value: "", label: "Newest first" },
  { value: "height:asc", label: "Oldest first" },
  { value: "numberOfTransactions:desc", label: "Most transactions first" },
  { value: "totalAmount:desc", label: "Highest amount first" },
  { value: "totalFee:desc", label: "Highest fees first" },
];
const CONTENTS = [
  { value: "", label: "All blocks" },
  { value: "transactions", label: "With transactions" },
];

const FIELDS: readonly FilterField[] = [
  { name: "content", label: "Show", options: CONTENTS },
  { name: "orderBy", label: "Order", options: ORDERS },
  { name: "generator", label: "Public key of the delegate", placeholder: "02…", faultOf: publicKeyFault },
];

export default function Blocks() {
  const { api } = useNode();
  const { query } = useListState();
  const { orderBy, content, generator } = query;
  const search = {
    ...orderFrom(ORDERS, orderBy),
    ...(content === "transactions" && { numberOfTransactions: { from: 1 } }),
    ...(generator && { generatorPublicKey: generator }),
  };
  const list = () => api.blocks.search(search);
  return (
    <Page
      title="Blocks"
      aside={areValid(FIELDS, query) && <ExportButtons name="blocks" rows={() => rowsOf(list())} />}
    >
      <Filters fields={FIELDS}>
        <PagedList name={`blocks ${JSON.stringify(search)}`} list={list} what="blocks" lines={25}>
          {(blocks) => <BlockTable blocks={blocks} />}
        </PagedList>
      </Filters>
    </Page>
  );
}

function BlockTable({ blocks }: { blocks: readonly Block[] }) {
  const symbol = useSymbol();
  const columns: readonly Column<Block>[] = [
    {
      title: "Height",
      narrow: "1a",
      cell: ({ id, height }) => <a href={hrefOf.block(id)}>{countText(height)}</a>,
    },
    { title: "Id", cell: ({ id }) => <BlockId id={id} /> },
    { title: "Time", cell: ({ timestamp }) => <Time timeMs={timestamp.unix * 1_000} />, narrow: "2a" },
    {
      title: "Delegate",
      narrow: "1b",
      cell: ({ generator }) => generator.username && <DelegateName id={generator.username} />,
    },
    { title: "Full", cell: (block) => <BlockFill block={block} />, narrow: "2b" },
    {
      title: "Transactions",
      narrow: "2c",
      cell: ({ transactions }) => countText(transactions),
      isNumber: true,
    },
    {
      title: `Amount ${symbol}`,
      cell: ({ forged }) => <Amount value={forged.amount} />,
      isNumber: true,
      narrow: "1c",
    },
    {
      title: "Fees and reward",
      cell: ({ forged }) => <Amount value={forged.total} />,
      isNumber: true,
      isMinor: true,
    },
  ];
  return (
    <Table
      caption="Blocks"
      columns={columns}
      rows={blocks}
      keyOf={({ id }) => id}
      empty={<Empty title="No block matches">Clear the filters to see all blocks.</Empty>}
    />
  );
}

async function* rowsOf(blocks: AsyncIterable<Block>) {
  for await (const { id, height, timestamp, generator, transactions, forged } of blocks) {
    const { fee, reward, amount } = forged;
    yield {
      height,
      id,
      time: timestamp.human,
      generator: generator.publicKey,
      transactions,
      amount,
      fee,
      reward,
    };
  }
}
