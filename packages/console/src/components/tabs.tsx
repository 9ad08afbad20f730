/** Tabs; arrow keys move between them. */
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

export type Tab = { readonly id: string; readonly title: ComponentChildren };

export type TabsProps = {
  /** Label of the tab list. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  /** Id of the selected tab. */
  readonly children: ComponentChildren;
};

export function Tabs({ label, tabs, selected, onSelect, children }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const prefix = useId();
  const at = Math.max(
    0,
    tabs.findIndex(({ id }) => id === selected),
  );
  const active = tabs[at]?.id;

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = (at + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (!tab) return;
    event.preventDefault();
    onSelect(tab.id);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  }

  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${prefix}-${id}`}
            aria-selected={id === active}
            aria-controls={`${prefix}-panel`}
            tabIndex={id === active ? 0 : -1}
            onClick={() => onSelect(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${prefix}-panel`} aria-labelledby={`${prefix}-${active}`}>
        {children}
      </div>
    </div>
  );
}
