/** Results of a search, or pages that were opened from it before. */

export type Found = { readonly href: string; readonly text: string; readonly kind: string };

export type SuggestionsProps = {
  readonly id: string;
  readonly label: string;
  readonly list: readonly Found[];
  readonly selected: number;
  readonly onOpen: (found: Found) => void;
};

export const Suggestions = ({ id, label, list, selected, onOpen }: SuggestionsProps) => (
  <>
    <div role="listbox" id={id} aria-label={label}>
      {list.map((item, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose
        <div
          key={item.href}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === selected}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onOpen(item)}
        >
          <span>{item.text}</span>
          <span>{item.kind}</span>
        </div>
      ))}
    </div>
    {list.length === 0 && (
      <p class="quiet" role="status">
        No match for this height, id, address, key or name. Parts of ids need four characters.
      </p>
    )}
  </>
);
