/** Form that pays from an account of the dev chain, with the outcome of the payment. */
import type { DevAccounts } from "@uniknode/client";
import { useState } from "preact/hooks";
import { CodeBlock } from "../../components/code-block.tsx";
import { Field } from "../../components/field.tsx";
import { shortened } from "../../components/format.ts";
import { TransactionId } from "../../components/identifier.tsx";
import { useNode } from "../../data/node.ts";
import { readAmount } from "../../signing/amount.ts";
import type { Order } from "../../signing/order.ts";
import { commandOf, programOf } from "../../signing/order-as-code.ts";
import { Whereabouts } from "../../signing/outcome.tsx";
import { reasonText } from "../../signing/post.ts";
import { type Payment, usePayment } from "./use-payment.ts";

export function Faucet({ accounts }: Pick<DevAccounts, "accounts">) {
  const { configuration } = useNode();
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [typed, setTyped] = useState("100");
  const { canPay, isBusy, paid, failure, pay } = usePayment();
  const { amount, fault } = readAmount(typed);
  const account = accounts.find(({ address }) => address === from) ?? accounts[0];
  const order: Order | undefined =
    amount === undefined || to === ""
      ? undefined
      : { kind: "transfer", recipientId: to, amount, vendorField: "" };

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    if (order && account) void pay(account, order);
  }

  return (
    <details class="command" open>
      <summary>
        <h3>Faucet</h3>
      </summary>
      <p class="quiet">
        Sends tokens from an account of the dev chain. The transaction is signed in this page.
      </p>
      <form onSubmit={onSubmit} noValidate>
        <Field
          name="faucet-to"
          label="To"
          placeholder="Address"
          value={to}
          onInput={(value) => setTo(value.trim())}
          fault={failure}
        />
        <Field
          name="faucet-amount"
          label={`Amount in ${configuration.value?.symbol ?? "tokens"}`}
          value={typed}
          onInput={setTyped}
          fault={fault}
        />
        <Field
          name="faucet-from"
          label="From"
          value={account?.address ?? ""}
          onInput={setFrom}
          options={optionsOf(accounts)}
        />
        <button type="submit" class="primary" disabled={!order || !canPay || isBusy}>
          {isBusy ? "Paying…" : "Pay"}
        </button>
      </form>
      {paid && <PaidStatus {...paid} />}
      {order && <EquivalentForms order={order} />}
    </details>
  );
}

const optionsOf = (accounts: DevAccounts["accounts"]) =>
  accounts.map(({ address }, index) => ({
    value: address,
    label: `account ${index}: ${shortened(address)}`,
  }));

const PaidStatus = ({ signed: { id }, posted }: NonNullable<Payment["paid"]>) => (
  <p role="status">
    <TransactionId id={id} />{" "}
    {posted.became === "accepted" ? (
      <Whereabouts id={id} />
    ) : (
      <span class="bad-text">{reasonText(posted.reasons)}</span>
    )}
  </p>
);

const EquivalentForms = ({ order }: { order: Order }) => (
  <details>
    <summary>Equivalent commands and code</summary>
    <CodeBlock text={commandOf(order, {}, "", location.origin)} what="command: Faucet" />
    <CodeBlock text={programOf(order, {}, location.origin)} what="program: Faucet" />
  </details>
);
