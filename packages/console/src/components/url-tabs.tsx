/** Tabs whose selection is stored in the query of the URL, so that it can be bookmarked and shared; Back returns to the former tab. */
import type { ComponentChildren } from "preact";
import { useListState } from "./list-state.ts";
import { Tabs, type TabsProps } from "./tabs.tsx";

type UrlTabsProps = Pick<TabsProps, "label" | "tabs"> & {
  /** Name in the query; the first tab is selected without it. */
  readonly parameter?: string;
  /** Returns the content of a tab. */
  readonly children: (selected: string) => ComponentChildren;
};

export function UrlTabs({ label, tabs, parameter = "view", children }: UrlTabsProps) {
  const { query, change } = useListState();
  const first = tabs[0]?.id ?? "";
  const selected = tabs.find(({ id }) => id === query[parameter])?.id ?? first;
  const select = (id: string) => change({ [parameter]: id === first ? "" : id });
  return (
    <Tabs label={label} tabs={tabs} selected={selected} onSelect={select}>
      {children(selected)}
    </Tabs>
  );
}
