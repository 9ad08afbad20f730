/** Combines consecutive messages into one: sending and receiving a message costs more than its content. */

/**
 * @param post sends messages in order; it throws when one of them cannot be copied
 * @param onUnsendable called with each message that cannot be copied; the others are sent
 * @returns a function that queues a message, which is sent before the event loop continues with anything else
 */
export function gatherMessages<Message>(
  post: (messages: readonly Message[]) => void,
  onUnsendable: (message: Message, error: unknown) => void,
): (message: Message) => void {
  let gathered: Message[] = [];

  function send(): void {
    const messages = gathered;
    gathered = [];
    try {
      post(messages);
    } catch {
      for (const message of messages) sendAlone(message);
    }
  }

  function sendAlone(message: Message): void {
    try {
      post([message]);
    } catch (error) {
      onUnsendable(message, error);
    }
  }

  return (message) => {
    gathered.push(message);
    // Runs after the promises that are already settled.
    if (gathered.length === 1) process.nextTick(send);
  };
}
