/** Header of every page: navigation, search and state of the node. */
import { Badge } from "../components/badge.tsx";
import { countText } from "../components/count.ts";
import { Icon } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";
import { shownVerdict } from "../data/verdict.ts";
import { MENU_ID } from "./navigation.tsx";
import { SearchField } from "./search-field.tsx";
import { SessionButton } from "./session-button.tsx";
import { setTheme, theme, themeAfter } from "./theme.ts";

export function Header() {
  return (
    <header class="frame-header">
      <button type="button" class="plain menu-button" popovertarget={MENU_ID} aria-label="Screens">
        <Icon name="menu" />
      </button>
      <a class="brand" href="/console/">
        <img src="/console/icon.svg" alt="" />
        Uniknode
        <NetworkName />
      </a>
      <SearchField />
      <div class="frame-status">
        <Pulse />
        <ThemeButton />
        <SessionButton />
      </div>
    </header>
  );
}

function NetworkName() {
  const { value } = useNode().session.state;
  if (!value?.network && !value?.devChain) return null;
  return <Badge tone={value.devChain ? "accent" : "plain"}>{value.devChain ? "dev" : value.network}</Badge>;
}

/** Shows the height, and whether the chain grows. */
function Pulse() {
  const { head } = useNode();
  const { state, text } = shownVerdict.value;
  const height = head.value ? countText(head.value.height) : "–";
  return (
    <a class={`pulse ${state}`} href="/console/" title={text} aria-label={`${text}, height ${height}`}>
      <b>{height}</b>
    </a>
  );
}

function ThemeButton() {
  const label = `Theme: ${theme.value}`;
  return (
    <button
      type="button"
      class="plain"
      title={label}
      aria-label={label}
      onClick={() => setTheme(themeAfter(theme.value))}
    >
      <Icon name={THEME_ICONS[theme.value]} />
    </button>
  );
}

const THEME_ICONS = { system: "theme", light: "sun", dark: "moon" } as const;
