/** What a screen reader says of changes that a reader sees. */
import { signal } from "@preact/signals";

const message = signal("");

/** Says a text once the reader pauses. */
export function announce(text: string): void {
  // An equal text is no change.
  message.value = message.peek() === text ? `${text}\u00a0` : text;
}

export function Announcements() {
  return (
    <div class="unseen" role="status">
      {message}
    </div>
  );
}
