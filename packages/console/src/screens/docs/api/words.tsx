/** A sentence of the node's description of its API, in which code stands between backquotes. */
export const Words = ({ text }: { text: string }) => (
  <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);
