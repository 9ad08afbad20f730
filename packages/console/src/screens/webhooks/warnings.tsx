/** Warnings of the node about conditions that are probably mistakes. */
export function Warnings({ warnings = [] }: { warnings?: readonly string[] | undefined }) {
  if (warnings.length === 0) return null;
  return (
    <div role="status">
      {warnings.map((warning) => (
        <p key={warning} class="warning">
          Warning: {warning}
        </p>
      ))}
    </div>
  );
}
