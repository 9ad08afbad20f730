/** Next steps of an operator whose mirror or API server is refused by a node, by the status of the response. */
export const REFUSAL_STEPS: Readonly<Record<number, string>> = {
  401: 'give the webhook token of the node with --token ("uniknode token" prints it)',
  403: "add the address of this machine to --feed-allow of the node",
  404: "start the node with --feed-blocks",
};
