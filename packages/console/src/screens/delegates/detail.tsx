/** Delegate, by username, address, public key or displayed name. */
import { type Block, type Delegate, findDelegate, type Wallet } from "@uniknode/client";
import { useRoute } from "preact-iso/router";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { Badge } from "../../components/badge.tsx";
import { BlockFill } from "../../components/block-fill.tsx";
import { DelegateName, nameOf } from "../../components/delegate-name.tsx";
import { countText, percentText } from "../../components/format.ts";
import { Address, BlockId, hrefOf, PublicKey, UnikId } from "../../components/identifier.tsx";
import { Facts, Page } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { UrlTabs } from "../../components/url-tabs.tsx";
import { useNode, useResponse } from "../../data/node.ts";

export default function DelegateScreen() {
  const { api } = useNode();
  const { name = "" } = useRoute().params;
  const response = useResponse(`delegate ${name}`, () => findDelegate(api, name));
  const delegate = response.value?.data;
  return (
    <Page
      kind="Delegate"
      title={delegate ? nameOf(delegate) : name.slice(0, 12)}
      aside={
        delegate && (
          <>
            <State delegate={delegate} />
            {!delegate.isResigned && (
              <a class="button" href={`/console/send?kind=vote&delegate=${delegate.publicKey}`}>
                Vote
              </a>
            )}
          </>
        )
      }
    >
      <ResponseView response={response} what="The delegate">
        {({ data }) => <Content delegate={data} />}
      </ResponseView>
    </Page>
  );
}

function State({ delegate: { rank, isResigned } }: { delegate: Delegate }) {
  const active = useNode().configuration.value?.constants.activeDelegates ?? 0;
  if (isResigned) return <Badge tone="bad">resigned</Badge>;
  if (rank === undefined) return <Badge>not ranked yet</Badge>;
  return rank <= active ? (
    <Badge tone="good">active, rank {rank}</Badge>
  ) : (
    <Badge>rank {countText(rank)}</Badge>
  );
}

function Content({ delegate }: { delegate: Delegate }) {
  const { username, type, address, publicKey, votes, production, forged, blocks, vote } = delegate;
  const isUnik = /^[0-9a-f]{64}$/.test(username);
  return (
    <>
      <Facts
        facts={[
          [isUnik ? "Unik" : "Username", isUnik ? <UnikId id={username} isWhole /> : username],
          ["Type", type],
          ["Wallet", <Address key="wallet" address={address} isWhole />],
          ["Public key", <PublicKey key="key" publicKey={publicKey} isWhole />],
          [
            "Votes",
            <>
              <Amount value={votes} /> · {percentText(production.approval)} of all votes for this type
            </>,
          ],
          ["Votes for", vote === publicKey ? "itself" : vote && <DelegateName id={vote} />],
          ["Blocks forged", countText(blocks.produced)],
          [
            "Last block",
            blocks.last && (
              <>
                <a href={hrefOf.block(blocks.last.id)}>{countText(blocks.last.height)}</a> ·{" "}
                <Time timeMs={blocks.last.timestamp.unix * 1_000} isWhole />
              </>
            ),
          ],
          [
            "Earned",
            <>
              <Amount value={forged.total} /> · rewards <Amount value={forged.rewards} />, fees{" "}
              <Amount value={forged.fees} />
            </>,
          ],
        ]}
      />
      <UrlTabs
        label="The delegate"
        tabs={[
          { id: "blocks", title: "Blocks" },
          { id: "voters", title: "Voters" },
        ]}
      >
        {(view) =>
          view === "voters" ? <Voters publicKey={publicKey} /> : <ForgedBlocks publicKey={publicKey} />
        }
      </UrlTabs>
    </>
  );
}

function ForgedBlocks({ publicKey }: { publicKey: string }) {
  const { api } = useNode();
  const symbol = useSymbol();
  const columns: readonly Column<Block>[] = [
    { title: "Height", cell: ({ id, height }) => <a href={hrefOf.block(id)}>{countText(height)}</a> },
    { title: "Id", cell: ({ id }) => <BlockId id={id} /> },
    { title: "Time", cell: ({ timestamp }) => <Time timeMs={timestamp.unix * 1_000} /> },
    { title: "Full", cell: (block) => <BlockFill block={block} /> },
    { title: "Transactions", cell: ({ transactions }) => countText(transactions), isNumber: true },
    { title: `Earned ${symbol}`, cell: ({ forged }) => <Amount value={forged.total} />, isNumber: true },
  ];
  return (
    <PagedList
      name={`delegate ${publicKey} blocks`}
      list={() => api.delegates.blocks(publicKey)}
      what="blocks"
      isSection
    >
      {(rows) => (
        <Table
          caption="Blocks of the delegate"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          empty={<Empty title="This delegate has not forged a block">Only active delegates forge.</Empty>}
        />
      )}
    </PagedList>
  );
}

function Voters({ publicKey }: { publicKey: string }) {
  const { api } = useNode();
  const symbol = useSymbol();
  const columns: readonly Column<Wallet>[] = [
    { title: "Wallet", cell: ({ address }) => <Address address={address} /> },
    { title: "Delegate", cell: ({ username }) => username && <DelegateName id={username} /> },
    { title: `Balance ${symbol}`, cell: ({ balance }) => <Amount value={balance} />, isNumber: true },
  ];
  return (
    <PagedList
      name={`delegate ${publicKey} voters`}
      list={() => api.delegates.voters(publicKey)}
      what="voters"
      isSection
    >
      {(rows) => (
        <Table
          caption="Wallets that vote for the delegate"
          columns={columns}
          rows={rows}
          keyOf={({ address }) => address}
          empty={<Empty title="No wallet votes for this delegate" />}
        />
      )}
    </PagedList>
  );
}
