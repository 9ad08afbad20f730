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
  const replace = (at: number, changes: Partial<DraftCondition>) =>
    onChange({
      conditions: conditions.map((condition, index) =>
        index === at ? { ...condition, ...changes } : condition,
      ),
    });
  return (
    <>
      {conditions.length === 0 && <p class="quiet">None: every event is delivered.</p>}
      {conditions.length > 1 && (
        <p>
          <label for="match">An event is delivered if</label>{" "}
          <select
            id="match"
            value={match}
            onChange={({ currentTarget }) =>
              onChange({ match: currentTarget.value === "all" ? "all" : "any" })
            }
          >
            <option value="any">any condition is true</option>
            <option value="all">all conditions are true</option>
          </select>
        </p>
      )}
      <datalist id="paths">
        {paths.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {conditions.map(({ key, condition, value }, index) => (
        <fieldset key={index} class="filters condition">
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
              value={key}
              onInput={({ currentTarget }) => replace(index, { key: currentTarget.value.trim() })}
            />
          </div>
          <div>
            <label for={`operator-${index}`}>Condition</label>
            <select
              id={`operator-${index}`}
              value={condition}
              onChange={({ currentTarget }) =>
                replace(index, { condition: currentTarget.value as Condition["condition"] })
              }
            >
              {OPERATORS.map(([operator, text]) => (
                <option key={operator} value={operator}>
                  {text}
                </option>
              ))}
            </select>
          </div>
          {needsValue(condition) && (
            <div>
              <label for={`value-${index}`}>Value</label>
              <input
                id={`value-${index}`}
                maxLength={4_096}
                placeholder={condition.endsWith("between") ? "least, most" : ""}
                spellcheck={false}
                autocomplete="off"
                value={value}
                onInput={({ currentTarget }) => replace(index, { value: currentTarget.value })}
              />
            </div>
          )}
          <button
            type="button"
            aria-label={`Remove condition ${index + 1}`}
            onClick={() => onChange({ conditions: conditions.filter((_, at) => at !== index) })}
          >
            Remove
          </button>
        </fieldset>
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
