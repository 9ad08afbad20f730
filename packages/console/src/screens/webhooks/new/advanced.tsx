/** Form fields that most webhooks leave as they are. */
import { Json } from "../../../components/code-block.tsx";
import { Conditions } from "./conditions.tsx";
import { type Draft, MAX_CONFIRMATIONS, MAX_NAME_LENGTH, type Member, selectionOf } from "./draft.ts";
import { Events } from "./events.tsx";

export type AdvancedProps = {
  readonly draft: Draft;
  /** Members of an event that the draft selects. */
  readonly members: readonly Member[];
  /** Open because the selection is none of the sentences, or because the node refused it. */
  readonly isOpen: boolean;
  readonly onChange: (changes: Partial<Draft>) => void;
};

export function Advanced({ draft, members, isOpen, onChange }: AdvancedProps) {
  return (
    <details class="card advanced" open={isOpen}>
      <summary>Advanced: name, order, confirmations, events and conditions</summary>
      <div class="filters">
        <NameField name={draft.name} onChange={onChange} />
        <OrderFields draft={draft} onChange={onChange} />
      </div>
      <label class="choice">
        <input
          type="checkbox"
          checked={draft.proof}
          onChange={({ currentTarget }) => onChange({ proof: currentTarget.checked })}
        />
        <span>Add a proof to each delivery</span>
      </label>
      <h3>Events</h3>
      <Events events={draft.events} onChange={(events) => onChange({ events })} />
      <h3>Conditions</h3>
      <div class="pair">
        <div>
          <Conditions draft={draft} members={members} onChange={onChange} />
        </div>
        <Json value={selectionOf(draft)} what="events and conditions" />
      </div>
    </details>
  );
}

type FieldsProps = Pick<AdvancedProps, "onChange">;

const NameField = ({ name, onChange }: FieldsProps & Pick<Draft, "name">) => (
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
);

const OrderFields = ({
  draft: { order, confirmations },
  onChange,
}: FieldsProps & Pick<AdvancedProps, "draft">) => (
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
