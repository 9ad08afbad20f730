/** Sentence of the OpenAPI document, with code in backquotes. */
export const Words = ({ text }: { text: string }) => (
  <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);
