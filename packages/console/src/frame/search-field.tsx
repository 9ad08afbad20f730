/** Search field for ids, heights, addresses, keys, names and pages, with results while typing. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Icon } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";
import type { Found } from "./search.ts";

/** Loads the search module on the first search. */
type Outcome = { readonly list: readonly Found[]; readonly loaded?: typeof import("./search.ts") };

const PAUSE_MS = 150;
const LIST_ID = "search-results";

export function SearchField() {
  const { api, session } = useNode();
  const { route } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [outcome, setOutcome] = useState<Outcome | "failed">();
  const [selected, setSelected] = useState(0);
  const [hasFocus, setFocus] = useState(false);
  const { list, loaded } = typeof outcome === "object" ? outcome : { list: [] };
  const isEmpty = text.trim() === "";
  const isOpen = outcome !== undefined && (isEmpty ? hasFocus && list.length > 0 : true);

  useEffect(() => {
    setOutcome(undefined);
    setSelected(0);
    if (isEmpty && !hasFocus) return;
    let isCurrent = true;
    const timer = setTimeout(
      async () => {
        const outcome = await find(isEmpty).catch(() => "failed" as const);
        if (isCurrent) setOutcome(outcome);
      },
      isEmpty ? 0 : PAUSE_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [api, text, hasFocus]);

  async function find(isRecent: boolean): Promise<Outcome> {
    const loaded = await import("./search.ts");
    const isDevChain = session.state.peek()?.devChain === true;
    return { loaded, list: isRecent ? loaded.recent() : await loaded.search(api, { text, isDevChain }) };
  }

  function open(chosen: Found): void {
    loaded?.remember(chosen);
    setText("");
    input.current?.blur();
    route(chosen.href);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape") setText("");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && list.length > 0) {
      event.preventDefault();
      setSelected((selected + step + list.length) % list.length);
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
          id="search"
          type="text"
          role="combobox"
          aria-label="Search pages, blocks, transactions, wallets, uniks and delegates"
          aria-expanded={isOpen}
          aria-controls={LIST_ID}
          aria-autocomplete="list"
          aria-activedescendant={list.length > 0 ? `${LIST_ID}-${selected}` : undefined}
          placeholder="Search: height, id, address, name, page"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
          onFocus={() => setFocus(true)}
          onBlur={() => setFocus(false)}
        />
        <kbd>/</kbd>
        <div class="suggestions" hidden={!isOpen}>
          {loaded ? (
            <loaded.Suggestions
              id={LIST_ID}
              label={isEmpty ? "Recently opened" : "Found"}
              list={list}
              selected={selected}
              onOpen={open}
            />
          ) : (
            // The element of `aria-controls` must exist before the first search.
            <p class="quiet" role="status" id={LIST_ID}>
              {outcome && "The node does not respond."}
            </p>
          )}
        </div>
      </form>
    </search>
  );
}
