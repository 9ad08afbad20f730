/** Block, by id or height. */

import { ApiError, type Block } from "@uniknode/client";
import { useRoute } from "preact-iso/router";
import { Amount } from "../../components/amount.tsx";
import { Badge } from "../../components/badge.tsx";
import { BlockFill } from "../../components/block-fill.tsx";
import { Json } from "../../components/code-block.tsx";
import { DelegateName } from "../../components/delegate-name.tsx";
import { bytesText, countOfText, countText } from "../../components/format.ts";
import { Icon } from "../../components/icon.tsx";
import { Address, BlockId, hrefOf, Identifier, PublicKey } from "../../components/identifier.tsx";
import { loadable } from "../../components/loadable.tsx";
import { Facts, Page, Section } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { TransactionTable } from "../../components/transactions/transaction-table.tsx";
import { UrlTabs } from "../../components/url-tabs.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { LAST_UNPROVEN_HEIGHT } from "../../proofs/provable.ts";

const Seal = loadable(() => import("../../proofs/seal.tsx"), "part");
const BlockEvents = loadable(() => import("./block-events.tsx"), "part");

export default function BlockScreen() {
  const { api } = useNode();
  const { id = "" } = useRoute().params;
  const response = useResponse(`block ${id}`, () => api.blocks.get(id));
  const block = response.value?.data;
  const isGone = response.error instanceof ApiError && response.error.code === "API_NOT_FOUND";
  return (
    <Page
      kind="Block"
      title={block ? countText(block.height) : id.slice(0, 12)}
      aside={block && !isGone && <Neighbours block={block} />}
    >
      {isGone ? (
        <Missing id={id} />
      ) : (
        <ResponseView response={response} what="The block">
          {({ data }) => <Content block={data} />}
        </ResponseView>
      )}
    </Page>
  );
}

function Neighbours({ block: { height, confirmations } }: { block: Block }) {
  return (
    <>
      {height > 1 && (
        <a class="button" href={hrefOf.block(height - 1)} rel="prev">
          <Icon name="left" /> {countText(height - 1)}
        </a>
      )}
      {confirmations > 0 && (
        <a class="button" href={hrefOf.block(height + 1)} rel="next">
          {countText(height + 1)} <Icon name="right" />
        </a>
      )}
    </>
  );
}

/** Shown if the block was reverted, is not forged yet, or does not exist. */
function Missing({ id }: { id: string }) {
  const { reorganization, head } = useNode();
  const reverted = reorganization.value?.reverted.find(
    (block) => block.id === id || `${block.height}` === id,
  );
  if (reverted) {
    return (
      <Empty title="This block was reverted">
        The chain has switched to another branch.{" "}
        <a href={hrefOf.block(reverted.height)}>The current block of height {countText(reverted.height)}</a>
      </Empty>
    );
  }
  const isFuture = /^\d{1,15}$/.test(id) && head.value && Number(id) > head.value.height;
  if (isFuture) {
    return <Empty title="This block is not forged yet">The page shows it when it is forged.</Empty>;
  }
  return (
    <Empty title="No block has this id or height">
      It may have been reverted, or belong to another network.
    </Empty>
  );
}

function Content({ block }: { block: Block }) {
  return (
    <>
      <Header block={block} />
      <UrlTabs
        label="The block"
        tabs={[
          { id: "transactions", title: `Transactions ${countText(block.transactions)}` },
          { id: "events", title: "Events" },
          { id: "json", title: "JSON" },
        ]}
      >
        {(view) =>
          view === "json" ? (
            <Json value={block} what="block" />
          ) : view === "events" ? (
            <BlockEvents id={block.id} height={block.height} />
          ) : (
            <Transactions block={block} />
          )
        }
      </UrlTabs>
    </>
  );
}

function Header({ block }: { block: Block }) {
  const { reorganization } = useNode();
  const undone = reorganization.value?.reverted.filter(
    (other) => other.height === block.height && other.id !== block.id,
  );
  const { id, height, previous, timestamp, generator, confirmations, forged, payload, signature } = block;
  const confirmed = confirmations === 0 ? "the newest block" : countOfText(confirmations, "newer blocks");
  return (
    <Facts
      facts={[
        ["Id", <BlockId key="id" id={id} isWhole />],
        ["Forged", <Time key="time" timeMs={timestamp.unix * 1_000} isWhole />],
        [
          "Delegate",
          generator.username ? (
            <DelegateName id={generator.username} />
          ) : (
            <Address address={generator.address} />
          ),
        ],
        [
          "Above it",
          <Badge key="after" tone={confirmations > 0 ? "good" : "accent"}>
            {confirmed}
          </Badge>,
        ],
        ["Proof", height > LAST_UNPROVEN_HEIGHT && <Seal kind="block" id={id} />],
        ["Full", <BlockFill key="fill" block={block} />],
        ["Amount", <Amount key="amount" value={forged.amount} />],
        ["Reward", <Amount key="reward" value={forged.reward} />],
        ["Fees", <Amount key="fees" value={forged.fee} />],
        ["Rewards of mints", forged.unikMintRewards && <Amount value={forged.unikMintRewards} />],
        [
          "Reverted at its height",
          undone &&
            undone.length > 0 &&
            undone.map(({ id }) => <Identifier key={id} id={id} what="block id" />),
        ],
        ["Previous", previous === "0" ? "none" : <BlockId id={previous} isWhole />],
        ["Public key", <PublicKey key="key" publicKey={generator.publicKey} isWhole />],
        ["Payload", bytesText(payload.length)],
        ["Payload hash", <Identifier key="hash" id={payload.hash} what="payload hash" isWhole />],
        ["Signature", <Identifier key="signature" id={signature} what="signature" isWhole />],
      ]}
    />
  );
}

function Transactions({ block: { id, transactions } }: { block: Block }) {
  const { api } = useNode();
  const none = <Empty title="This block is empty">No transactions were pending.</Empty>;
  if (transactions === 0) return none;
  return (
    <Section title="In block order">
      <PagedList
        name={`block ${id} transactions`}
        list={() => api.blocks.transactions(id)}
        what="transactions"
      >
        {(rows) => <TransactionTable caption="Transactions of the block" transactions={rows} empty={none} />}
      </PagedList>
    </Section>
  );
}
