/** Announces visible changes to screen readers. */
import { signal } from "@preact/signals";

const message = signal("");

/** Announces a text when the screen reader pauses. */
export function announce(text: string): void {
  // Screen readers ignore an equal text.
  message.value = message.peek() === text ? `${text}\u00a0` : text;
}

export function Announcements() {
  return (
    <div class="unseen" role="status">
      {message}
    </div>
  );
}
