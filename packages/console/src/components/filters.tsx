/** Filters of a list, stored in the URL so that they can be bookmarked and shared. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { expected } from "./faults.ts";
import { useListState } from "./list-state.ts";
import { Empty } from "./states.tsx";

export type FilterField = {
  /** Name in the query of the URL. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Options; text if absent. The first option has an empty value and means no filter. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** Returns what is wrong with a text. */
  readonly faultOf?: (text: string) => string | undefined;
};

/** Characters of an option that fit into half of a narrow screen. */
const MAX_NARROW = 22;

/** Returns what is wrong with the filters in the query of a URL, by their names. */
export const filterFaults = (
  fields: readonly FilterField[],
  query: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fields.flatMap(({ name, options, faultOf }) => {
      const text = query[name] ?? "";
      if (text === "" || options?.some(({ value }) => value === text)) return [];
      const fault = options ? expected("one of the options") : faultOf?.(text);
      return fault === undefined ? [] : [[name, fault]];
    }),
  );

export const areValid = (...list: Parameters<typeof filterFaults>): boolean =>
  Object.keys(filterFaults(...list)).length === 0;

export type FiltersProps = {
  readonly fields: readonly FilterField[];
  /** The filtered list; absent while a filter is invalid, because the list would have other rows. */
  readonly children?: ComponentChildren;
};

export function Filters({ fields, children }: FiltersProps) {
  const { query } = useListState();
  const faults = filterFaults(fields, query);
  return (
    <>
      <FilterForm fields={fields} faults={faults} />
      {Object.keys(faults).length === 0 ? (
        children
      ) : (
        <Empty title="A filter is invalid">Correct the marked filter, or clear the filters.</Empty>
      )}
    </>
  );
}

type FormProps = Pick<FiltersProps, "fields"> & { readonly faults: Readonly<Record<string, string>> };

function FilterForm({ fields, faults }: FormProps) {
  const { query, change, hrefWith } = useListState();
  const [isUnfolded, setUnfolded] = useState(false);
  const count = fields.filter(({ name }) => query[name]).length;
  const isFoldable = fields.length > 1 && Object.keys(faults).length === 0;

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    change(Object.fromEntries(fields.map(({ name }) => [name, `${data.get(name) ?? ""}`.trim()])));
  }

  return (
    <form
      class={isFoldable && !isUnfolded ? "filters folded" : "filters"}
      aria-label="Filters"
      onSubmit={onSubmit}
    >
      {isFoldable && (
        <button
          type="button"
          class="fold"
          aria-expanded={isUnfolded}
          onClick={() => setUnfolded(!isUnfolded)}
        >
          {count > 0 ? `Filters (${count})` : "Filters"}
        </button>
      )}
      {fields.map((field) => (
        <FilterControl
          key={field.name}
          field={field}
          value={query[field.name] ?? ""}
          fault={faults[field.name]}
        />
      ))}
      {/* A choice is applied at once. */}
      {fields.some(({ options }) => !options) && <button type="submit">Filter</button>}
      {count > 0 && (
        <a class="button plain" href={hrefWith(Object.fromEntries(fields.map(({ name }) => [name, ""])))}>
          Clear
        </a>
      )}
    </form>
  );
}

type ControlProps = {
  readonly field: FilterField;
  readonly value: string;
  readonly fault: string | undefined;
};

function FilterControl({ field: { name, label, placeholder, options }, value, fault }: ControlProps) {
  const common = {
    id: `filter-${name}`,
    name,
    "aria-invalid": fault !== undefined,
    "aria-describedby": `filter-${name}-fault`,
  };
  return (
    <div class={options?.some(({ label }) => label.length > MAX_NARROW) ? "long" : undefined}>
      <label for={common.id}>{label}</label>
      {options ? (
        <select
          {...common}
          value={value}
          onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
        >
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        // Keeps typed text when new blocks render the page again.
        <input
          key={value}
          {...common}
          defaultValue={value}
          placeholder={placeholder}
          spellcheck={false}
          autocomplete="off"
        />
      )}
      <p id={common["aria-describedby"]} class="field-fault" aria-live="polite">
        {fault}
      </p>
    </div>
  );
}
