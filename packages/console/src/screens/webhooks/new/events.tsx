/** Form fields for the events of a webhook. */
import { EVENT_GROUPS } from "./event-names.ts";

export type EventsProps = {
  readonly events: readonly string[];
  readonly onChange: (events: readonly string[]) => void;
};

export function Events({ events, onChange }: EventsProps) {
  const known = new Set(
    EVENT_GROUPS.flatMap(({ pattern, events }) => [pattern, ...events.map(([name]) => name)]),
  );
  const others = events.filter((name) => !known.has(name));
  const toggle = (name: string, isChosen: boolean) =>
    onChange(
      isChosen
        ? [...events.filter((other) => other !== name), name]
        : events.filter((other) => other !== name),
    );
  return (
    <div class="event-groups">
      {EVENT_GROUPS.map(({ title, pattern, hint, events: names }) => {
        const hasAll = pattern !== undefined && events.includes(pattern);
        return (
          <details key={title} class="card" open={hasAll || names.some(([name]) => events.includes(name))}>
            <summary>
              {title}: {names.length} events
            </summary>
            {hint && <p class="quiet">{hint}</p>}
            {pattern && <Choice name={pattern} text="all of them" isChosen={hasAll} onChange={toggle} />}
            {names.map(([name, text]) => (
              <Choice
                key={name}
                name={name}
                text={text}
                isChosen={hasAll || events.includes(name)}
                isDisabled={hasAll}
                onChange={toggle}
              />
            ))}
          </details>
        );
      })}
      {others.length > 0 && (
        <div class="card">
          {others.map((name) => (
            <Choice key={name} name={name} text="from the address of this page" isChosen onChange={toggle} />
          ))}
        </div>
      )}
    </div>
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly text: string;
  readonly isChosen: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (name: string, isChosen: boolean) => void;
};

const Choice = ({ name, text, isChosen, isDisabled = false, onChange }: ChoiceProps) => (
  <label class="choice">
    <input
      type="checkbox"
      checked={isChosen}
      disabled={isDisabled}
      onChange={({ currentTarget }) => onChange(name, currentTarget.checked)}
    />
    <span>
      <code>{name}</code> <span class="quiet">{text}</span>
    </span>
  </label>
);
