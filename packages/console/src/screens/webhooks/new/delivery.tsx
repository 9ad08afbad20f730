/** Form fields for the target and delivery options. */
import { type Draft, MAX_CONFIRMATIONS, MAX_NAME_LENGTH } from "./draft.ts";

type FieldsProps = { readonly draft: Draft; readonly onChange: (changes: Partial<Draft>) => void };

export type DeliveryFieldsProps = FieldsProps & {
  /** Offers a ping before registering. */
  readonly hasPing?: boolean;
};

export const DeliveryFields = ({ draft, onChange, hasPing = true }: DeliveryFieldsProps) => (
  <>
    <div class="filters">
      <ReceiverFields draft={draft} onChange={onChange} />
      <OrderFields draft={draft} onChange={onChange} />
    </div>
    <Choice
      title="Add a proof to each delivery"
      isChosen={draft.proof}
      onChange={(proof) => onChange({ proof })}
    />
    {hasPing && (
      <Choice title="Send a ping first" isChosen={draft.ping} onChange={(ping) => onChange({ ping })} />
    )}
  </>
);

type ChoiceProps = {
  readonly title: string;
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
};

const Choice = ({ title, isChosen, onChange }: ChoiceProps) => (
  <label class="choice">
    <input
      type="checkbox"
      checked={isChosen}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    <span>{title}</span>
  </label>
);

const ReceiverFields = ({ draft: { name, target }, onChange }: FieldsProps) => (
  <>
    <div>
      <label for="name">Name</label>
      <input
        id="name"
        maxLength={MAX_NAME_LENGTH}
        placeholder="Payments of the shop"
        autocomplete="off"
        value={name}
        onInput={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
    </div>
    <div class="wide">
      <label for="target">Target: the URL of your receiver, or nats://HOST:PORT/SUBJECT</label>
      <input
        id="target"
        type="url"
        required
        maxLength={2_048}
        pattern="(https?|nats|tls)://.+"
        placeholder="https://receiver.example/hook"
        spellcheck={false}
        autocomplete="off"
        value={target}
        onInput={({ currentTarget }) => onChange({ target: currentTarget.value })}
      />
    </div>
  </>
);

const OrderFields = ({ draft: { order, confirmations }, onChange }: FieldsProps) => (
  <>
    <div>
      <label for="order">Order</label>
      <select
        id="order"
        value={order}
        onChange={({ currentTarget }) =>
          onChange({ order: currentTarget.value === "strict" ? "strict" : "parallel" })
        }
      >
        <option value="parallel">Parallel</option>
        <option value="strict">Strict order</option>
      </select>
    </div>
    <div>
      <label for="confirmations">Blocks that must follow first</label>
      <input
        id="confirmations"
        type="number"
        min={0}
        max={MAX_CONFIRMATIONS}
        value={confirmations}
        onInput={({ currentTarget }) => {
          if (currentTarget.validity.valid) onChange({ confirmations: Number(currentTarget.value) });
        }}
      />
    </div>
  </>
);
