/** Form fields for conditions on the content of events. */
import type { Condition } from "@uniknode/client";
import { type Draft, type DraftCondition, type Member, needsValue, operatorsFor } from "./draft.ts";

export type ConditionsProps = {
  readonly draft: Pick<Draft, "conditions" | "match">;
  /** Members of the content of an example event. */
  readonly members: readonly Member[];
  readonly onChange: (changes: Partial<Draft>) => void;
};

/** Maximum per webhook (docs/reference/limits.md). */
const MAX_CONDITIONS = 50;
const NEW: DraftCondition = { key: "", condition: "eq", value: "" };

export function Conditions({ draft: { conditions, match }, members, onChange }: ConditionsProps) {
  const replace = (at: number, ...by: DraftCondition[]) =>
    onChange({ conditions: conditions.toSpliced(at, 1, ...by) });
  return (
    <>
      {conditions.length === 0 && <p class="quiet">None: every event is delivered.</p>}
      {conditions.length > 1 && <MatchField match={match} onChange={(match) => onChange({ match })} />}
      <datalist id="paths">
        {members.map(([path]) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {conditions.map((condition, index) => (
        <ConditionFields
          key={index}
          index={index}
          condition={condition}
          example={members.find(([path]) => path === condition.key)?.[1]}
          onChange={(changes) => replace(index, { ...condition, ...changes })}
          onRemove={() => replace(index)}
        />
      ))}
      <p>
        <button
          type="button"
          disabled={conditions.length >= MAX_CONDITIONS}
          onClick={() => onChange({ conditions: [...conditions, NEW] })}
        >
          Add a condition
        </button>
      </p>
    </>
  );
}

type MatchFieldProps = {
  readonly match: Draft["match"];
  readonly onChange: (match: Draft["match"]) => void;
};

const MatchField = ({ match, onChange }: MatchFieldProps) => (
  <p>
    <label for="match">An event is delivered if</label>{" "}
    <select
      id="match"
      value={match}
      onChange={({ currentTarget }) => onChange(currentTarget.value === "all" ? "all" : "any")}
    >
      <option value="any">any condition is true</option>
      <option value="all">all conditions are true</option>
    </select>
  </p>
);

type ConditionFieldsProps = {
  readonly index: number;
  readonly condition: DraftCondition;
  /** Value of the member in an event; decides which operators are offered. */
  readonly example: unknown;
  readonly onChange: (changes: Partial<DraftCondition>) => void;
  readonly onRemove: () => void;
};

const ConditionFields = ({ index, condition, example, onChange, onRemove }: ConditionFieldsProps) => (
  <fieldset class="filters condition">
    <legend class="unseen">Condition {index + 1}</legend>
    <div>
      <label for={`key-${index}`}>Member of the content</label>
      <input
        id={`key-${index}`}
        list="paths"
        required
        maxLength={256}
        placeholder="amount"
        spellcheck={false}
        autocomplete="off"
        value={condition.key}
        onInput={({ currentTarget }) => onChange({ key: currentTarget.value.trim() })}
      />
    </div>
    <OperatorField index={index} condition={condition} example={example} onChange={onChange} />
    {needsValue(condition.condition) && (
      <div>
        <label for={`value-${index}`}>Value</label>
        <input
          id={`value-${index}`}
          maxLength={4_096}
          placeholder={condition.condition.endsWith("between") ? "least, most" : ""}
          spellcheck={false}
          autocomplete="off"
          value={condition.value}
          onInput={({ currentTarget }) => onChange({ value: currentTarget.value })}
        />
      </div>
    )}
    <button type="button" aria-label={`Remove condition ${index + 1}`} onClick={onRemove}>
      Remove
    </button>
  </fieldset>
);

const OperatorField = ({ index, condition, example, onChange }: Omit<ConditionFieldsProps, "onRemove">) => (
  <div>
    <label for={`operator-${index}`}>Condition</label>
    <select
      id={`operator-${index}`}
      value={condition.condition}
      onChange={({ currentTarget }) => onChange({ condition: currentTarget.value as Condition["condition"] })}
    >
      {operatorsFor(example, condition.condition).map(([operator, text]) => (
        <option key={operator} value={operator}>
          {text}
        </option>
      ))}
    </select>
  </div>
);
