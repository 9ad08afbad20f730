/** Form fields of each kind of transaction. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { DelegateName } from "../../components/delegate-name.tsx";
import { Field } from "../../components/field.tsx";
import { amountText } from "../../components/format.ts";
import { UnikId } from "../../components/identifier.tsx";
import { useNode } from "../../data/node.ts";
import type { CachedResponse } from "../../data/response-cache.ts";
import type { OrderField } from "../../signing/order.ts";
import type { Sender } from "../../signing/sender.ts";
import type { Kind, Values } from "./read-order.ts";

type FieldsProps = {
  readonly values: Values;
  readonly onInput: (name: string, value: string) => void;
  readonly faultOf: (field: OrderField, name?: string) => string | undefined;
};

/** Name, value and handler of a field. */
const bound = ({ values, onInput }: FieldsProps, name: string) => ({
  name,
  value: values[name] ?? "",
  onInput: (value: string) => onInput(name, value),
});

/** Name, value and handler of a field for an identifier, without the spaces around it. */
const boundId = (props: FieldsProps, name: string) => ({
  ...bound(props, name),
  onInput: (value: string) => props.onInput(name, value.trim()),
});

export function SenderField(props: FieldsProps & { sender: CachedResponse<Sender> }) {
  const { values, faultOf, sender } = props;
  const { wallet } = sender.value ?? {};
  return (
    <Field
      {...boundId(props, "from")}
      label="From"
      placeholder="Address of your wallet"
      fault={faultOf("from")}
      hint={
        wallet && values.from === wallet.address ? (
          <>
            It has <Amount value={`${wallet.balance}`} />.
          </>
        ) : (
          !values.from && "If you leave it empty, your passphrase determines the wallet."
        )
      }
    />
  );
}

export type OrderFieldsProps = FieldsProps & {
  readonly kind: Kind;
  readonly settle: (changes: Values) => void;
  readonly sender: Sender | undefined;
};

export function OrderFields(props: OrderFieldsProps) {
  switch (props.kind) {
    case "transfer":
      return <TransferFields {...props} />;
    case "vote":
      return <VoteFields {...props} />;
    case "mint":
      return <MintFields {...props} />;
    case "update":
      return <UpdateFields {...props} />;
    case "transfer-unik":
      return (
        <>
          <UnikField {...props} />
          <RecipientField {...props} />
        </>
      );
    case "disclose":
      return <DisclosureFields {...props} />;
  }
}

const RecipientField = (props: FieldsProps) => (
  <Field
    {...boundId(props, "to")}
    label="To"
    placeholder="Address of the recipient"
    fault={props.faultOf("to")}
  />
);

function TransferFields(props: OrderFieldsProps) {
  const { faultOf } = props;
  const { configuration } = useNode();
  const { symbol, constants } = configuration.value ?? {};
  return (
    <>
      <RecipientField {...props} />
      <Field
        {...bound(props, "amount")}
        label={`Amount${symbol === undefined ? "" : ` in ${symbol}`}`}
        placeholder="12.5"
        fault={faultOf("amount")}
      />
      <Field
        {...bound(props, "text")}
        label="Text (vendor field)"
        placeholder="None"
        fault={faultOf("text")}
        hint={`Everyone can read it, permanently. Up to ${constants?.vendorFieldLength ?? 255} bytes.`}
      />
    </>
  );
}

const ACTIONS = [
  { value: "", label: "Vote for a delegate" },
  { value: "withdraw", label: "Withdraw the vote" },
];

function VoteFields(props: OrderFieldsProps) {
  const { values, faultOf, sender } = props;
  const { vote } = sender?.wallet ?? {};
  const isWithdrawal = values.action === "withdraw";
  const present: ComponentChildren = vote ? (
    <>
      The wallet votes for <DelegateName id={vote} /> now.
    </>
  ) : (
    sender && "The wallet has not voted."
  );
  return (
    <>
      <Field
        {...bound(props, "action")}
        label="What to do"
        options={ACTIONS}
        fault={isWithdrawal || vote ? faultOf("delegate", "from") : undefined}
        hint={present}
      />
      {!isWithdrawal && (
        <Field
          {...boundId(props, "delegate")}
          label="Delegate"
          placeholder="Name, address or public key"
          fault={vote ? undefined : faultOf("delegate")}
        />
      )}
    </>
  );
}

const TYPES = [
  { value: "", label: "individual" },
  { value: "2", label: "organization" },
  { value: "3", label: "network" },
];

function MintFields(props: OrderFieldsProps) {
  const { faultOf, settle } = props;
  return (
    <>
      <Field
        {...boundId(props, "unik")}
        label="Id of the new unik"
        placeholder="64 digits from 0 to 9 and a to f"
        fault={faultOf("unik")}
        hint="The chain stores only this id; it is the hash of a name that you need not disclose."
        aside={
          <button type="button" onClick={() => settle({ unik: randomId() })}>
            Any id
          </button>
        }
      />
      <Field {...bound(props, "type")} label="Type" options={TYPES} />
      <Field
        {...bound(props, "properties")}
        label="Properties"
        rows={4}
        placeholder="name = value, one per line"
        fault={faultOf("properties")}
      />
    </>
  );
}

/** An existing unik; proposes one of the sender. */
function UnikField(props: OrderFieldsProps) {
  const [first, ...others] = Object.keys(props.sender?.wallet.attributes.tokens ?? {});
  return (
    <Field
      {...boundId(props, "unik")}
      label="Id of the unik"
      placeholder="64 digits from 0 to 9 and a to f"
      fault={props.faultOf("unik")}
      hint={
        first !== undefined && (
          <>
            The wallet owns <UnikId id={first} />
            {others.length > 0 && ` and ${others.length} more`}.
          </>
        )
      }
    />
  );
}

function UpdateFields(props: OrderFieldsProps) {
  const { faultOf } = props;
  return (
    <>
      <UnikField {...props} />
      <Field
        {...bound(props, "set")}
        label="Set"
        rows={4}
        placeholder="name = value, one per line"
        fault={faultOf("properties", "set")}
      />
      <Field {...bound(props, "remove")} label="Remove" placeholder="Names, separated by commas" />
    </>
  );
}

function DisclosureFields(props: OrderFieldsProps) {
  const { faultOf } = props;
  return (
    <>
      <UnikField {...props} />
      <Field
        {...bound(props, "names")}
        label="Names"
        rows={3}
        placeholder="Names, separated by commas"
        fault={faultOf("names")}
        hint="Everyone can read them, permanently."
      />
      <Field
        {...boundId(props, "factory")}
        label="Unik of the factory"
        placeholder="64 digits from 0 to 9 and a to f"
        fault={faultOf("factory")}
      />
    </>
  );
}

const randomId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export type TermsFieldsProps = FieldsProps & {
  readonly sender: Sender | undefined;
  /** Fee of the draft. */
  readonly fee: string | undefined;
};

export function TermsFields(props: TermsFieldsProps) {
  const { values, faultOf, sender, fee } = props;
  const [feeFault, nonceFault] = [faultOf("fee"), faultOf("nonce")];
  // Stays open while the user clears a field in it.
  const [isOpen, setOpen] = useState(Boolean(values.fee || values.nonce));
  return (
    <details
      open={isOpen || Boolean(feeFault || nonceFault)}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Fee and nonce</summary>
      <Field
        {...bound(props, "fee")}
        label="Fee"
        placeholder={fee === undefined ? "Default" : amountText(fee)}
        fault={feeFault}
        hint={`In ${useSymbol()}. If empty: the node's fee for this type.`}
      />
      <Field
        {...bound(props, "nonce")}
        label="Nonce"
        placeholder={sender === undefined ? "The next one" : `${sender.nextNonce}`}
        fault={nonceFault}
        hint="If empty: the next nonce after the wallet's confirmed and pending transactions."
      />
    </details>
  );
}
