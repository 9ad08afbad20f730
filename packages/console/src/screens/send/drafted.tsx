/** The drafted transaction, loaded when there is an order: in words, by member, as JSON, and as a command and as code. */
import type { SingleWallet } from "@uniknode/client";
import { Amount } from "../../components/amount.tsx";
import { Json } from "../../components/code-block.tsx";
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import { Address } from "../../components/identifier.tsx";
import { Facts } from "../../components/page.tsx";
import { titleOf } from "../../components/transactions/kinds.ts";
import { assetFacts } from "../../components/transactions/parts.tsx";
import { Sentence } from "../../components/transactions/sentence.tsx";
import type { Draft } from "../../signing/build.ts";
import type { Order } from "../../signing/order.ts";
import { type Chosen, commandOf, programOf } from "../../signing/order-as-code.ts";

export type DraftContentProps = { readonly draft: Draft; readonly wallet: SingleWallet };

export function DraftContent({ draft, wallet }: DraftContentProps) {
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
          ["Amount", amount !== "0" && <Amount value={amount} />],
          ["Fee", <Amount key="fee" value={fee} />],
          ["Left", left >= 0n && <Amount value={left} />],
          ["Text", vendorField !== undefined && <span class="vendor-field">{vendorField}</span>],
          ...assetFacts(transaction),
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

export type OrderAsCodeProps = {
  readonly order: Order;
  readonly chosen: Chosen;
  /** Typed text of the delegate. */
  readonly delegate: string;
};

export function OrderAsCode({ order, chosen, delegate }: OrderAsCodeProps) {
  return (
    <EquivalentForms
      what="this transaction"
      forms={[
        { id: "command", title: "Command line", text: commandOf(order, chosen, delegate, location.origin) },
        { id: "client", title: "JavaScript", text: programOf(order, chosen, location.origin) },
      ]}
    />
  );
}
