/** Form fields of each kind of transaction. */
import type { ComponentChildren } from "preact";
import { Amount } from "../../components/amount.tsx";
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

export function SenderField({
  values,
  onInput,
  faultOf,
  sender,
}: FieldsProps & { sender: CachedResponse<Sender> }) {
  const { wallet } = sender.value ?? {};
  return (
    <Field
      name="from"
      label="From"
      placeholder="Address of your wallet"
      value={values.from ?? ""}
      onInput={(value) => onInput("from", value.trim())}
      fault={faultOf("from")}
      hint={
        wallet && values.from === wallet.address ? (
          <>
            It has <Amount value={`${wallet.balance}`} hasSymbol />.
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
  }
}

function TransferFields({ values, onInput, faultOf }: OrderFieldsProps) {
  const { configuration } = useNode();
  const { symbol, constants } = configuration.value ?? {};
  return (
    <>
      <Field
        name="to"
        label="To"
        placeholder="Address of the recipient"
        value={values.to ?? ""}
        onInput={(value) => onInput("to", value.trim())}
        fault={faultOf("to")}
      />
      <Field
        name="amount"
        label={`Amount${symbol === undefined ? "" : ` in ${symbol}`}`}
        placeholder="12.5"
        value={values.amount ?? ""}
        onInput={(value) => onInput("amount", value)}
        fault={faultOf("amount")}
      />
      <Field
        name="text"
        label="Text (vendor field)"
        placeholder="None"
        value={values.text ?? ""}
        onInput={(value) => onInput("text", value)}
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

function VoteFields({ values, onInput, faultOf, sender }: OrderFieldsProps) {
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
        name="action"
        label="What to do"
        options={ACTIONS}
        value={values.action ?? ""}
        onInput={(value) => onInput("action", value)}
        fault={isWithdrawal || vote ? faultOf("delegate", "from") : undefined}
        hint={present}
      />
      {!isWithdrawal && (
        <Field
          name="delegate"
          label="Delegate"
          placeholder="Username, address or public key"
          value={values.delegate ?? ""}
          onInput={(value) => onInput("delegate", value.trim())}
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

function MintFields({ values, onInput, faultOf, settle }: OrderFieldsProps) {
  return (
    <>
      <Field
        name="unik"
        label="Id of the new unik"
        placeholder="64 digits from 0 to 9 and a to f"
        value={values.unik ?? ""}
        onInput={(value) => onInput("unik", value.trim())}
        fault={faultOf("unik")}
        hint="The chain stores only this id; it is the hash of a name that you need not disclose."
        aside={
          <button type="button" onClick={() => settle({ unik: randomId() })}>
            Any id
          </button>
        }
      />
      <Field
        name="type"
        label="Type"
        options={TYPES}
        value={values.type ?? ""}
        onInput={(value) => onInput("type", value)}
      />
      <Field
        name="properties"
        label="Properties"
        rows={4}
        placeholder="name = value, one per line"
        value={values.properties ?? ""}
        onInput={(value) => onInput("properties", value)}
        fault={faultOf("properties")}
      />
    </>
  );
}

function UpdateFields({ values, onInput, faultOf, sender }: OrderFieldsProps) {
  const [first, ...others] = Object.keys(sender?.wallet.attributes.tokens ?? {});
  return (
    <>
      <Field
        name="unik"
        label="Id of the unik"
        placeholder="64 digits from 0 to 9 and a to f"
        value={values.unik ?? ""}
        onInput={(value) => onInput("unik", value.trim())}
        fault={faultOf("unik")}
        hint={
          first !== undefined && (
            <>
              The wallet owns <UnikId id={first} />
              {others.length > 0 && ` and ${others.length} more`}.
            </>
          )
        }
      />
      <Field
        name="set"
        label="Set"
        rows={4}
        placeholder="name = value, one per line"
        value={values.set ?? ""}
        onInput={(value) => onInput("set", value)}
        fault={faultOf("properties", "set")}
      />
      <Field
        name="remove"
        label="Remove"
        placeholder="Names, separated by commas"
        value={values.remove ?? ""}
        onInput={(value) => onInput("remove", value)}
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

export function TermsFields({ values, onInput, faultOf, sender, fee }: TermsFieldsProps) {
  const [feeFault, nonceFault] = [faultOf("fee"), faultOf("nonce")];
  return (
    <details open={Boolean(values.fee || values.nonce || feeFault || nonceFault)}>
      <summary>Fee and nonce</summary>
      <Field
        name="fee"
        label="Fee"
        placeholder={fee === undefined ? "Default" : amountText(fee)}
        value={values.fee ?? ""}
        onInput={(value) => onInput("fee", value)}
        fault={feeFault}
        hint="If empty: the fee that the node charges for this type."
      />
      <Field
        name="nonce"
        label="Nonce"
        placeholder={sender === undefined ? "The next one" : `${sender.nextNonce}`}
        value={values.nonce ?? ""}
        onInput={(value) => onInput("nonce", value)}
        fault={nonceFault}
        hint="If empty: the next nonce after the wallet's confirmed and pending transactions."
      />
    </details>
  );
}
