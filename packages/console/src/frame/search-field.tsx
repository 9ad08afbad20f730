/** Search field for ids, heights, addresses, keys, names and pages, with results while typing. */

import { useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Icon } from "../components/icon.tsx";
import type { Found } from "./search.ts";
import { type Outcome, useSearch } from "./use-search.ts";

const LIST_ID = "search-results";
/** Attributes of the field that never change. */
const COMBOBOX = {
  id: "search",
  type: "text",
  "aria-label": "Search pages, blocks, transactions, wallets, uniks and delegates",
  "aria-controls": LIST_ID,
  "aria-autocomplete": "list",
  placeholder: "Search: height, id, address, name, page",
  autocomplete: "off",
  spellcheck: false,
} as const;

export function SearchField() {
  const { route } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [hasFocus, setFocus] = useState(false);
  const { outcome, selected, select } = useSearch(text, hasFocus);
  const list = outcome?.list ?? [];
  const isEmpty = text.trim() === "";
  const label = isEmpty ? "Recently opened" : "Found";
  const isOpen = outcome !== undefined && (!isEmpty || (hasFocus && list.length > 0));

  function open(chosen: Found): void {
    outcome?.loaded?.remember(chosen);
    setText("");
    input.current?.blur();
    route(chosen.href);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape") setText("");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && list.length > 0) {
      event.preventDefault();
      select((selected + step + list.length) % list.length);
    }
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    const chosen = list[selected];
    if (chosen) open(chosen);
  }

  return (
    <search class="search">
      <form onSubmit={onSubmit}>
        <Icon name="search" />
        <input
          ref={input}
          role="combobox"
          {...COMBOBOX}
          aria-expanded={isOpen}
          aria-activedescendant={list.length > 0 ? `${LIST_ID}-${selected}` : undefined}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
          onFocus={() => setFocus(true)}
          onBlur={() => setFocus(false)}
        />
        <kbd>/</kbd>
        <div class="suggestions" hidden={!isOpen}>
          <Results outcome={outcome} label={label} selected={selected} onOpen={open} />
        </div>
      </form>
    </search>
  );
}

type ResultsProps = {
  readonly outcome: Outcome | undefined;
  readonly label: string;
  readonly selected: number;
  readonly onOpen: (found: Found) => void;
};

function Results({ outcome, ...props }: ResultsProps) {
  if (outcome?.loaded) return <outcome.loaded.Suggestions id={LIST_ID} list={outcome.list} {...props} />;
  return (
    // The element of `aria-controls` must exist before the first search.
    <p class="quiet" role="status" id={LIST_ID}>
      {outcome && "The node does not respond."}
    </p>
  );
}
