/** Transaction, pending or with confirmations. */

import type { Transaction } from "@uniknode/client";
import { useRoute } from "preact-iso/router";
import { Amount } from "../../components/amount.tsx";
import { Json } from "../../components/code-block.tsx";
import { countText, shortened } from "../../components/format.ts";
import {
  Address,
  BlockId,
  hrefOf,
  Identifier,
  PublicKey,
  TransactionId,
} from "../../components/identifier.tsx";
import { loadable } from "../../components/loadable.tsx";
import { Facts, Page } from "../../components/page.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { Confirmations } from "../../components/transactions/confirmations.tsx";
import { titleOf } from "../../components/transactions/kinds.ts";
import { assetFacts } from "../../components/transactions/parts.tsx";
import { Sentence } from "../../components/transactions/sentence.tsx";
import { useTransaction } from "../../components/transactions/use-transaction.ts";
import { UrlTabs } from "../../components/url-tabs.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { LAST_UNPROVEN_HEIGHT } from "../../proofs/provable.ts";

const Seal = loadable(() => import("../../proofs/seal.tsx"), "part");
const BytesView = loadable(() => import("./bytes-view.tsx"), "part");

export default function TransactionScreen() {
  const { id = "" } = useRoute().params;
  const { response, transaction, wasConfirmed } = useTransaction(id);
  return (
    <Page
      kind="Transaction"
      title={shortened(id)}
      aside={transaction && <Confirmations transaction={transaction} wasConfirmed={wasConfirmed} />}
    >
      <ResponseView response={response} what="The transaction">
        {({ data: [found] }) =>
          found ? (
            <Content transaction={found} />
          ) : (
            <Empty title="No transaction has this id">
              It is neither on this chain nor in the pool of this node. It may have expired, been rejected, or
              belong to another network.
            </Empty>
          )
        }
      </ResponseView>
    </Page>
  );
}

function Content({ transaction }: { transaction: Transaction }) {
  return (
    <>
      <Sentence transaction={transaction} />
      <UrlTabs
        label="The transaction"
        tabs={[
          { id: "details", title: "Details" },
          { id: "json", title: "JSON" },
          { id: "signed", title: "As signed" },
          { id: "bytes", title: "Bytes" },
        ]}
      >
        {(view) =>
          view === "json" ? (
            <Json value={transaction} what="transaction" />
          ) : view === "signed" || view === "bytes" ? (
            <Signed transaction={transaction} isInBytes={view === "bytes"} />
          ) : (
            <Details transaction={transaction} />
          )
        }
      </UrlTabs>
    </>
  );
}

function Details({ transaction }: { transaction: Transaction }) {
  const { api } = useNode();
  const { id, blockId, timestamp, sender, senderPublicKey, recipient } = transaction;
  const { amount, fee, nonce, vendorField, signature, signSignature, signatures } = transaction;
  // Confirmations and head of the page can be of different moments. A list, because the block may be gone.
  const blocks = useResponse(
    blockId && `height of ${blockId}`,
    () => api.blocks.list({ id: `${blockId}` }).page({ limit: 1 }),
    { lasts: "session" },
  );
  const height = blocks.value?.data[0]?.height;
  return (
    <Facts
      facts={[
        ["Id", <TransactionId key="id" id={id} isWhole />],
        [
          "Type",
          `${titleOf(transaction)} (${transaction.typeGroup}/${transaction.type}), version ${transaction.version}`,
        ],
        [
          "Block",
          blockId && (
            <>
              {height !== undefined && <a href={hrefOf.block(blockId)}>{countText(height)}</a>} ·{" "}
              <BlockId id={blockId} />
            </>
          ),
        ],
        [
          "Proof",
          height !== undefined && height > LAST_UNPROVEN_HEIGHT && <Seal kind="transaction" id={id} />,
        ],
        ["Time", timestamp && <Time timeMs={timestamp.unix * 1_000} isWhole />],
        ["Sender", <Address key="sender" address={sender} isWhole />],
        ["Recipient", (recipient !== sender || amount !== "0") && <Address address={recipient} isWhole />],
        ["Amount", amount !== "0" && <Amount value={amount} />],
        ["Fee", <Amount key="fee" value={fee} />],
        ["Text", vendorField !== undefined && <span class="vendor-field">{vendorField}</span>],
        ...assetFacts(transaction),
        ["Nonce", nonce],
        ["Public key", <PublicKey key="key" publicKey={senderPublicKey} isWhole />],
        ["Signature", signature && <Identifier id={signature} what="signature" isWhole />],
        [
          "Second signature",
          signSignature && <Identifier id={signSignature} what="second signature" isWhole />,
        ],
        ["Signatures", signatures && signatures.length > 0 && `${signatures.length} of members`],
      ]}
    />
  );
}

type SignedProps = { readonly transaction: Transaction; readonly isInBytes: boolean };

/** Transaction as signed, which can be posted to another node. */
function Signed({ transaction: { id, blockId }, isInBytes }: SignedProps) {
  const { api } = useNode();
  const response = useResponse(`transaction ${id} signed ${blockId}`, async () =>
    blockId
      ? (await api.transactions.get(id, { transform: false })).data
      : (await api.transactions.getUnconfirmed(id, { transform: false })).data,
  );
  return (
    <ResponseView response={response} what="The signed form">
      {(signed) =>
        isInBytes ? <BytesView transaction={signed} /> : <Json value={signed} what="signed transaction" />
      }
    </ResponseView>
  );
}
