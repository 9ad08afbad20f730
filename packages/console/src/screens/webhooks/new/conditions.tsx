/** Form fields for conditions on the content of events. */
import type { Condition } from "@uniknode/client";
import { type Draft, type DraftCondition, needsValue, OPERATORS } from "./draft.ts";

export type ConditionsProps = {
  readonly draft: Pick<Draft, "conditions" | "match">;
  /** Paths in the content of an example event. */
  readonly paths: readonly string[];
  readonly onChange: (changes: Partial<Draft>) => void;
};

/** Maximum per webhook (docs/reference/limits.md). */
const MAX_CONDITIONS = 50;
const NEW: DraftCondition = { key: "", condition: "eq", value: "" };

export function Conditions({ draft: { conditions, match }, paths, onChange }: ConditionsProps) {
  const replace = (at: number, ...by: DraftCondition[]) =>
    onChange({ conditions: conditions.toSpliced(at, 1, ...by) });
  return (
    <>
      {conditions.length === 0 && <p class="quiet">None: every event is delivered.</p>}
      {conditions.length > 1 && <MatchField match={match} onChange={(match) => onChange({ match })} />}
      <datalist id="paths">
        {paths.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {conditions.map((condition, index) => (
        <ConditionFields
          key={index}
          index={index}
          condition={condition}
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
  readonly onChange: (changes: Partial<DraftCondition>) => void;
  readonly onRemove: () => void;
};

const ConditionFields = ({ index, condition, onChange, onRemove }: ConditionFieldsProps) => (
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
    <OperatorField index={index} condition={condition} onChange={onChange} />
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

const OperatorField = ({ index, condition, onChange }: Omit<ConditionFieldsProps, "onRemove">) => (
  <div>
    <label for={`operator-${index}`}>Condition</label>
    <select
      id={`operator-${index}`}
      value={condition.condition}
      onChange={({ currentTarget }) => onChange({ condition: currentTarget.value as Condition["condition"] })}
    >
      {OPERATORS.map(([operator, text]) => (
        <option key={operator} value={operator}>
          {text}
        </option>
      ))}
    </select>
  </div>
);
