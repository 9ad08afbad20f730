/** Searches all documents while one types. The arrow keys go on to what was found. */
import { useEffect, useRef, useState } from "preact/hooks";
import { FIRST_RESULT } from "./results.tsx";
import { useQuery } from "./use-query.ts";

/** Browsers bound how often an address changes. */
const PAUSE_MS = 150;

export function SearchBox() {
  const { query, search } = useQuery();
  const [text, setText] = useState(query);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The address changed by itself: back, or a link.
  useEffect(() => {
    clearTimeout(timer.current);
    setText(query);
  }, [query]);
  useEffect(() => () => clearTimeout(timer.current), []);

  function onInput(typed: string): void {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(typed), PAUSE_MS);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape") onInput("");
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    document.getElementById(FIRST_RESULT)?.focus();
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    if (text === query) document.getElementById(FIRST_RESULT)?.click();
    else search(text);
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
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
            onKeyDown={onKeyDown}
          />
        </div>
      </form>
    </search>
  );
}
