/** The field for ids, heights, addresses, keys and names. What is found is listed below it while one types. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Icon } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";
import type { Found } from "./search.ts";

const PAUSE_MS = 150;
const LIST_ID = "search-results";

export function SearchField() {
  const { api, top } = useNode();
  const { route } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<readonly Found[] | "failed">();
  const [selected, setSelected] = useState(0);
  const [hasFocus, setFocus] = useState(false);
  const list = Array.isArray(found) ? (found as readonly Found[]) : [];
  const isEmpty = text.trim() === "";
  const isOpen = found !== undefined && (isEmpty ? hasFocus && list.length > 0 : true);

  useEffect(() => {
    setFound(undefined);
    setSelected(0);
    if (isEmpty && !hasFocus) return;
    let isCurrent = true;
    const timer = setTimeout(
      async () => {
        // Loaded by the first search.
        const outcome = await import("./search.ts")
          .then(({ search, recent }) => (isEmpty ? recent() : search(api, top.peek(), text)))
          .catch(() => "failed" as const);
        if (isCurrent) setFound(outcome);
      },
      isEmpty ? 0 : PAUSE_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [api, text, hasFocus]);

  function open(chosen: Found): void {
    void import("./search.ts").then(({ remember }) => remember(chosen));
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
          aria-label="Search by height, id, address, public key or delegate"
          aria-expanded={isOpen}
          aria-controls={LIST_ID}
          aria-autocomplete="list"
          aria-activedescendant={list.length > 0 ? `${LIST_ID}-${selected}` : undefined}
          placeholder="Height, id, address, key, delegate"
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
          <div role="listbox" id={LIST_ID} aria-label={isEmpty ? "Recently opened" : "Found"}>
            {list.map((item, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose
              <div
                key={item.href}
                id={`${LIST_ID}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === selected}
                onPointerDown={(event) => event.preventDefault()}
                onClick={() => open(item)}
              >
                <span>{item.text}</span>
                <span>{item.kind}</span>
              </div>
            ))}
          </div>
          {isOpen && list.length === 0 && (
            <p class="quiet" role="status">
              {found === "failed"
                ? "The node does not answer."
                : "Nothing has this height, id, address, key or name. Ids of older things must be whole."}
            </p>
          )}
        </div>
      </form>
    </search>
  );
}
