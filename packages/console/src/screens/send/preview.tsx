/** Preview of the transaction: in words, by member, and as JSON. */
import type { SingleWallet } from "@uniknode/client";
import { Amount } from "../../components/amount.tsx";
import { Json } from "../../components/code-block.tsx";
import { Address } from "../../components/identifier.tsx";
import { Facts } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { assetDetails } from "../../components/transactions/asset.ts";
import { titleOf } from "../../components/transactions/kinds.ts";
import { PartView } from "../../components/transactions/parts.tsx";
import { Sentence } from "../../components/transactions/sentence.tsx";
import type { Draft } from "../../signing/build.ts";
import type { Sender } from "../../signing/sender.ts";

export type PreviewProps = { readonly draft: Draft | undefined; readonly sender: Sender | undefined };

export const Preview = ({ draft, sender }: PreviewProps) => (
  <section class="section" aria-label="What will be signed">
    <header>
      <h2>What will be signed</h2>
    </header>
    {draft && sender ? (
      <Content draft={draft} wallet={sender.wallet} />
    ) : (
      <Empty title="Nothing yet">
        The transaction appears here in words and as JSON once the form is complete.
      </Empty>
    )}
  </section>
);

function Content({ draft, wallet }: { draft: Draft; wallet: SingleWallet }) {
  const { type, typeGroup = 1, amount, fee, nonce, recipientId, vendorField, asset } = draft;
  const transaction = {
    type,
    typeGroup,
    amount,
    asset,
    sender: wallet.address,
    recipient: recipientId ?? wallet.address,
  };
  const left = BigInt(wallet.balance) - BigInt(amount) - BigInt(fee);
  return (
    <>
      <Sentence transaction={transaction} />
      <Facts
        facts={[
          ["Type", `${titleOf(transaction)} (${typeGroup}/${type})`],
          ["To", recipientId && <Address address={recipientId} isWhole />],
          ["Amount", amount !== "0" && <Amount value={amount} hasSymbol />],
          ["Fee", <Amount key="fee" value={fee} hasSymbol />],
          ["Left", left >= 0n && <Amount value={left} hasSymbol />],
          ["Text", vendorField !== undefined && <span class="vendor-field">{vendorField}</span>],
          ...assetDetails(transaction).map(
            ([name, parts]) =>
              [name, parts.map((part, index) => <PartView key={index} part={part} isWhole />)] as const,
          ),
          ["Nonce", nonce],
        ]}
      />
      <details>
        <summary>As JSON</summary>
        <Json value={draft} what="unsigned transaction" />
        {draft.senderPublicKey === "" && (
          <p class="quiet">The chain does not know the public key of this wallet yet; signing adds it.</p>
        )}
      </details>
    </>
  );
}
