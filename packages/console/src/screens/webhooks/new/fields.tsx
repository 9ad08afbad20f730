/** Form fields of a webhook: its receiver, what it receives with a preview, and all else. */
import type { TriedTarget } from "@uniknode/client";
import { useState } from "preact/hooks";
import { announce } from "../../../components/announce.tsx";
import { refusalText } from "../../../components/error-text.ts";
import { Field } from "../../../components/field.tsx";
import { countText } from "../../../components/format.ts";
import { Section } from "../../../components/page.tsx";
import { useNode } from "../../../data/node.ts";
import { causeOf } from "../cause.ts";
import { Advanced } from "./advanced.tsx";
import { type Draft, fieldOf } from "./draft.ts";
import { Preview, useTrial } from "./preview.tsx";
import { SENTENCES, type Sentence, selectionFor, sentenceOf } from "./sentences.ts";

export type WebhookFieldsProps = {
  readonly draft: Draft;
  /** Refusal of the draft by the node. */
  readonly problem: string | undefined;
  readonly onChange: (changes: Partial<Draft>) => void;
};

export function WebhookFields({ draft, problem, onChange }: WebhookFieldsProps) {
  const trial = useTrial(draft);
  const field = problem === undefined ? undefined : fieldOf(problem);
  const isSelection = field === "events" || field === "conditions";
  const isOwn = draft.events.length > 0 && !sentenceOf(draft);
  return (
    <>
      <div class="card">
        <Receiver
          target={draft.target}
          problem={isSelection ? undefined : problem}
          onChange={(target) => onChange({ target })}
        />
      </div>
      <div class="card">
        <Subject draft={draft} onChange={onChange} />
        {isSelection && (
          <p class="field-fault" role="alert">
            {problem}
          </p>
        )}
      </div>
      <Section title="Preview">
        <Preview trial={trial} />
      </Section>
      <Advanced draft={draft} members={trial.members} isOpen={isOwn || isSelection} onChange={onChange} />
    </>
  );
}

type Pinged = { readonly target: string; readonly text: string; readonly isBad: boolean };

type ReceiverProps = {
  readonly target: string;
  /** Refusal of the target by the node. */
  readonly problem: string | undefined;
  readonly onChange: (target: string) => void;
};

function Receiver({ target, problem, onChange }: ReceiverProps) {
  const { webhooks } = useNode().operations;
  const [isRunning, setRunning] = useState(false);
  const [last, setPinged] = useState<Pinged>();
  const pinged = last?.target === target ? last : undefined;

  async function ping(): Promise<void> {
    setRunning(true);
    const outcome = await webhooks.pingTarget(target.trim()).then(
      ({ data }) => ({ text: pingText(data, target), isBad: !data.accepted }),
      (error: unknown) => ({ text: refusalText(error), isBad: true }),
    );
    setPinged({ target, ...outcome });
    announce(outcome.text);
    setRunning(false);
  }

  return (
    <div class="field">
      <label for="target">URL of your receiver</label>
      <div class="field-line">
        <input
          id="target"
          type="url"
          required
          maxLength={2_048}
          pattern="(https?|nats|tls)://.+"
          placeholder="https://receiver.example/hook"
          aria-describedby="target-notes"
          aria-invalid={problem !== undefined || pinged?.isBad === true}
          spellcheck={false}
          autocomplete="off"
          value={target}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        <button type="button" disabled={isRunning || target.trim() === ""} onClick={() => void ping()}>
          {isRunning ? "Pinging…" : "Ping"}
        </button>
      </div>
      <div id="target-notes" class="field-notes receiver-notes">
        {problem !== undefined && (
          <p class="field-fault" role="alert">
            {problem}
          </p>
        )}
        {pinged ? (
          <p class={pinged.isBad ? "field-fault" : "good-text"}>{pinged.text}</p>
        ) : (
          problem === undefined && (
            <p class="quiet">The node posts each event there, or publishes it to nats://HOST:PORT/SUBJECT.</p>
          )
        )}
      </div>
    </div>
  );
}

/** Describes the response to a ping; a receiver that verifies signatures cannot accept it before it has the secret. */
function pingText(
  { accepted, status, reason = "", response, durationMs }: TriedTarget,
  target: string,
): string {
  if (accepted) {
    const how = status === undefined ? "" : ` with HTTP ${status}`;
    return `The receiver accepted the ping${how} after ${countText(durationMs)} ms.`;
  }
  const { text, advice = "" } = causeOf(reason, target);
  if (status === 401 || status === 403) {
    return `${text} If it verifies signatures, it needs the secret first, which the registration shows.`;
  }
  return `${text} ${advice}${response === undefined ? "" : ` Its response: ${response.slice(0, 100)}`}`;
}

type SubjectProps = {
  readonly draft: Draft;
  readonly onChange: (changes: Partial<Draft>) => void;
};

function Subject({ draft, onChange }: SubjectProps) {
  const chosen = sentenceOf(draft);
  const isOther = !chosen && draft.events.length > 0;
  return (
    <fieldset class="subjects">
      <legend>What to receive</legend>
      {SENTENCES.map((sentence) => (
        <Subscription
          key={sentence.id}
          sentence={sentence}
          value={chosen?.sentence === sentence ? chosen.value : undefined}
          onChange={(value) => onChange(selectionFor(sentence, value))}
        />
      ))}
      {isOther && (
        <label class="choice">
          <input type="radio" name="subject" checked />
          <span>
            Own choice <span class="quiet">Its events and conditions are below, under Advanced.</span>
          </span>
        </label>
      )}
    </fieldset>
  );
}

type SubscriptionProps = {
  readonly sentence: Sentence;
  /** Absent if another sentence is chosen. */
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
};

function Subscription({ sentence: { id, title, hint, input }, value, onChange }: SubscriptionProps) {
  return (
    <div>
      <label class="choice">
        <input type="radio" name="subject" checked={value !== undefined} onChange={() => onChange("")} />
        <span>
          {title} <span class="quiet">{hint}</span>
        </span>
      </label>
      {input && value !== undefined && (
        <Field
          name={`subject-${id}`}
          label={input.label}
          placeholder={input.placeholder}
          value={value}
          onInput={(text) => onChange(text.trim())}
          fault={value === "" ? undefined : input.faultOf(value)}
        />
      )}
    </div>
  );
}
