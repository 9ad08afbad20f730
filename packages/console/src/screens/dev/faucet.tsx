/** Form that pays from an account of the dev chain, with the outcome of the payment. */
import type { DevAccount, DevAccounts, RawTransaction } from "@uniknode/client";
import { useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { CodeBlock } from "../../components/code-block.tsx";
import { Field } from "../../components/field.tsx";
import { shortened } from "../../components/format.ts";
import { TransactionId } from "../../components/identifier.tsx";
import { useNode } from "../../data/node.ts";
import { readAmount } from "../../signing/amount.ts";
import { commandOf, programOf } from "../../signing/elsewhere.ts";
import type { Order } from "../../signing/order.ts";
import { Whereabouts } from "../../signing/outcome.tsx";
import { type Posted, post, reasonText } from "../../signing/post.ts";
import { readSender } from "../../signing/sender.ts";
import { type Signer, useSigner } from "../../signing/signer.ts";

type Paid = { readonly signed: RawTransaction; readonly posted: Posted };

export function Faucet({ accounts }: Pick<DevAccounts, "accounts">) {
  const node = useNode();
  const signer = useSigner();
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [typed, setTyped] = useState("100");
  const [isBusy, setBusy] = useState(false);
  const [paid, setPaid] = useState<Paid>();
  const [failure, setFailure] = useState<string>();
  const { amount, fault } = readAmount(typed);
  const account = accounts.find(({ address }) => address === from) ?? accounts[0];
  const order: Order | undefined =
    amount === undefined || to === ""
      ? undefined
      : { kind: "transfer", recipientId: to, amount, vendorField: "" };

  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const height = node.head.peek()?.height;
    if (!order || !signer || !account || height === undefined || isBusy) return;
    setBusy(true);
    setPaid(undefined);
    setFailure(undefined);
    try {
      const signed = await signFrom(account, order, signer, height);
      const [posted] = await post(node.api, [signed]);
      setPaid({ signed, posted: posted! });
      announce(
        posted!.became === "accepted" ? "The node accepted the payment." : "The payment was rejected.",
      );
      node.poll();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }

  async function signFrom(account: DevAccount, order: Order, signer: Signer, height: number) {
    const { address, publicKey: senderPublicKey, passphrase } = account;
    const { nextNonce, wallet } = await readSender(node.api, address);
    const terms = { senderPublicKey, nonce: nextNonce, height };
    const signatory = { address, secondPublicKey: wallet.secondPublicKey ?? undefined };
    return signer.sign(order, terms, signatory, { passphrase, second: "" });
  }

  return (
    <section class="card command">
      <h2>Faucet</h2>
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
          label={`Amount in ${node.configuration.value?.symbol ?? "tokens"}`}
          value={typed}
          onInput={setTyped}
          fault={fault}
        />
        <Field
          name="faucet-from"
          label="From"
          value={account?.address ?? ""}
          onInput={setFrom}
          options={accounts.map(({ address }, index) => ({
            value: address,
            label: `account ${index}: ${shortened(address)}`,
          }))}
        />
        <button type="submit" class="primary" disabled={!order || !signer || isBusy}>
          {isBusy ? "Paying…" : "Pay"}
        </button>
      </form>
      {paid && (
        <p role="status">
          <TransactionId id={paid.signed.id} />{" "}
          {paid.posted.became === "accepted" ? (
            <Whereabouts id={paid.signed.id} />
          ) : (
            <span class="bad-text">{reasonText(paid.posted.reasons)}</span>
          )}
        </p>
      )}
      {order && (
        <details>
          <summary>Equivalent commands and code</summary>
          <CodeBlock text={commandOf(order, {}, "", location.origin)} what="command: Faucet" />
          <CodeBlock text={programOf(order, {}, location.origin)} what="program: Faucet" />
        </details>
      )}
    </section>
  );
}
