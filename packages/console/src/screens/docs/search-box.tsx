/** Search field for all documents. Arrow keys move to the results. */
import { FIRST_RESULT } from "./results.tsx";
import { useTyped } from "./use-query.ts";

export function SearchBox() {
  const { query, text, type, settle } = useTyped();

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape") type("");
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    document.getElementById(FIRST_RESULT)?.focus();
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    if (text === query) document.getElementById(FIRST_RESULT)?.click();
    else settle();
  }

  return (
    <search aria-label="Documentation">
      <form onSubmit={onSubmit}>
        <div class="field">
          <label for="docs-search">Search the documentation</label>
          <input
            id="docs-search"
            type="search"
            value={text}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => type(currentTarget.value)}
            onKeyDown={onKeyDown}
          />
        </div>
      </form>
    </search>
  );
}
