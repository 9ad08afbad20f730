/** Filters of a list, stored in the URL so that they can be bookmarked and shared. */
import { useListState } from "./list-state.ts";

export type FilterField = {
  /** Name in the query of the URL. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Options; text if absent. The first option has an empty value and means no filter. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
};

/** Characters of an option that fit into half of a narrow screen. */
const MAX_NARROW = 22;

export function Filters({ fields }: { fields: readonly FilterField[] }) {
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
              spellcheck={false}
              autocomplete="off"
            />
          )}
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
