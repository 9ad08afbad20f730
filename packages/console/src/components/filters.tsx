/** Filters of a list, stored in the URL so that they can be bookmarked and shared. */
import type { ComponentChildren } from "preact";
import { unitsOf } from "./amount.tsx";
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

const expected = (what: string) => `Expected: ${what}.`;
const matching = (pattern: RegExp, what: string) => (text: string) =>
  pattern.test(text) ? undefined : expected(what);

/** Values of `faultOf`. */
export const addressFault = matching(/^[0-9A-Za-z]{34}$/, "34 letters and digits");
export const idFault = matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits");
export const publicKeyFault = matching(/^0[23][0-9a-f]{64}$/, "66 hexadecimal digits");
export const heightFault = matching(/^[1-9]\d{0,8}$/, "a number from 1");
export const amountFault = (text: string) =>
  unitsOf(text) === undefined ? expected("a number with up to 8 decimals") : undefined;

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
  const isFiltered = fields.some(({ name }) => query[name]);

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    change(Object.fromEntries(fields.map(({ name }) => [name, `${data.get(name) ?? ""}`.trim()])));
  }

  return (
    <form class="filters" aria-label="Filters" onSubmit={onSubmit}>
      {fields.map(({ name, label, placeholder, options }) => (
        <div key={name} class={options?.some(({ label }) => label.length > MAX_NARROW) ? "long" : undefined}>
          <label for={`filter-${name}`}>{label}</label>
          {options ? (
            <select
              id={`filter-${name}`}
              name={name}
              value={query[name] ?? ""}
              aria-invalid={name in faults}
              aria-describedby={`filter-${name}-fault`}
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
              key={query[name]}
              id={`filter-${name}`}
              name={name}
              defaultValue={query[name] ?? ""}
              placeholder={placeholder}
              aria-invalid={name in faults}
              aria-describedby={`filter-${name}-fault`}
              spellcheck={false}
              autocomplete="off"
            />
          )}
          <p id={`filter-${name}-fault`} class="field-fault" aria-live="polite">
            {faults[name]}
          </p>
        </div>
      ))}
      <button type="submit">Filter</button>
      {isFiltered && (
        <a class="button plain" href={hrefWith(Object.fromEntries(fields.map(({ name }) => [name, ""])))}>
          Clear
        </a>
      )}
    </form>
  );
}
