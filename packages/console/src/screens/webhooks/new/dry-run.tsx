/** Dry run of the draft on the last blocks, updated on input and with each block. */
import type { DryRun, TriedEvent } from "@uniknode/client";
import { useEffect, useState } from "preact/hooks";
import { Badge } from "../../../components/badge.tsx";
import { Json } from "../../../components/code-block.tsx";
import { countText } from "../../../components/format.ts";
import { Section } from "../../../components/page.tsx";
import { Empty, ResponseView } from "../../../components/states.tsx";
import { useNode, useResponse } from "../../../data/node.ts";
import type { CachedResponse } from "../../../data/response-cache.ts";
import { type Draft, pathsOf, selectionOf } from "./draft.ts";

const PAUSE_MS = 400;
const BLOCKS = [10, 100, 1_000];
/** Example event whose content shows the paths for conditions. */
const EVERYTHING = ["*"];

export type Trial = {
  readonly response: CachedResponse<{ readonly data: DryRun }>;
  /** Paths in the content of an example event, for conditions. */
  readonly paths: readonly string[];
  readonly blocks: number;
  readonly setBlocks: (blocks: number) => void;
};

export function useTrial(draft: Draft): Trial {
  const { operations } = useNode();
  const [blocks, setBlocks] = useState(100);
  const { events, ...selection } = selectionOf({
    ...draft,
    events: draft.events.length > 0 ? draft.events : EVERYTHING,
  });
  const body = { ...selection, ...(events && { events }), blocks };
  const key = useDelayed(JSON.stringify(body));
  const response = useResponse(`dry run ${key}`, () =>
    operations.webhooks.test(JSON.parse(key) as Parameters<typeof operations.webhooks.test>[0]),
  );
  const { fired, notFired } = response.value?.data ?? {};
  const example = (fired?.events[0] ?? notFired?.events[0])?.data;
  return { response, paths: pathsOf(example), blocks, setBlocks };
}

/** Debounces a value. */
function useDelayed(value: string): string {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}

export function DryRunSection({ trial: { response, blocks, setBlocks } }: { trial: Trial }) {
  return (
    <Section
      title="Dry run"
      aside={
        <select
          aria-label="Blocks of the dry run"
          value={blocks}
          onChange={({ currentTarget }) => setBlocks(Number(currentTarget.value))}
        >
          {BLOCKS.map((count) => (
            <option key={count} value={count}>{`last ${countText(count)} blocks`}</option>
          ))}
        </select>
      }
    >
      <ResponseView response={response} what="The dry run">
        {({ data }) => (
          <div class="card">
            <Report report={data} />
          </div>
        )}
      </ResponseView>
    </Section>
  );
}

function Report({
  report: { fromHeight, toHeight, fired, notFired, notRemembered, note },
}: {
  report: DryRun;
}) {
  return (
    <>
      <p class="sentence" role="status">
        <strong>{countText(fired.count)}</strong> {fired.count === 1 ? "event" : "events"} of the blocks{" "}
        {countText(fromHeight)} to {countText(toHeight)} would have been delivered,{" "}
        {countText(notFired.count)} not.
      </p>
      {note !== undefined && <p class="quiet">{note}</p>}
      {notRemembered.length > 0 && (
        <p class="quiet">
          Not derivable from stored blocks: {notRemembered.join(", ")}. They are delivered when they occur.
        </p>
      )}
      {fired.events.length === 0 && notFired.events.length === 0 && (
        <Empty title="No matching events in these blocks">Try more blocks, or cause one.</Empty>
      )}
      <Tried title="Delivered" events={fired.events} />
      <Tried title="Not delivered" events={notFired.events} />
    </>
  );
}

const MAX_SHOWN = 5;

function Tried({ title, events }: { title: string; events: readonly TriedEvent[] }) {
  if (events.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      {events.slice(0, MAX_SHOWN).map((event, index) => (
        <Example key={index} event={event} />
      ))}
    </>
  );
}

function Example({ event: { event, height, data, conditions } }: { event: TriedEvent }) {
  const [isOpen, setOpen] = useState(false);
  const failing = conditions.filter(({ holds }) => !holds);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Badge>{event}</Badge> {height !== undefined && <span class="quiet">height {countText(height)}</span>}{" "}
        {failing.map(({ key, found }) => (
          <span key={key} class="quiet">
            {key} is {found.length > 0 ? found.map(String).join(", ").slice(0, 60) : "missing"}{" "}
          </span>
        ))}
      </summary>
      {isOpen && <Json value={data} what={`content of ${event}`} />}
    </details>
  );
}
