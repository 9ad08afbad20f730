/** Event in one line, with its content below when expanded. */
import { useState } from "preact/hooks";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Json } from "../../components/code-block.tsx";
import { countText, shortened } from "../../components/format.ts";
import { hrefOf } from "../../components/identifier.tsx";
import { subjectOf, type TailEvent } from "./tail.ts";

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function EventRow({ event, isRetracted }: { event: TailEvent; isRetracted: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { event: name, height, blockId, reverts, receivedMs, number: _, ...content } = event;
  return (
    <li class={isRetracted ? "live-event retracted" : "live-event"}>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <time dateTime={new Date(receivedMs).toISOString()}>{timeOfDay.format(receivedMs)}</time>
          <Badge tone={toneOf(name)}>{name}</Badge>
          <span class="live-subject">{shortened(subjectOf(event))}</span>
          {height !== undefined && <span class="quiet">height {countText(height)}</span>}
          {isRetracted && <Badge tone="warning">retracted</Badge>}
        </summary>
        {isOpen && (
          <div class="live-content">
            {blockId !== undefined && (
              <p>
                <a href={hrefOf.block(blockId)}>The block</a>
              </p>
            )}
            <Json
              what="event"
              value={{
                event: name,
                ...(height !== undefined && { height }),
                ...(blockId !== undefined && { blockId }),
                ...(reverts !== undefined && { reverts }),
                ...content,
              }}
            />
          </div>
        )}
      </details>
    </li>
  );
}

function toneOf(name: string): Tone {
  if (name.endsWith("reverted")) return "warning";
  if (/failed|missed|missing|rejected|expired/.test(name)) return "bad";
  if (name.startsWith("block.")) return "accent";
  return "plain";
}
