/** What every screen is: a title, perhaps something beside it, and its content. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";

export type PageProps = {
  /** Of the document as well. */
  readonly title: string;
  /** Above the title: what kind of thing it is. */
  readonly kind?: string;
  /** Beside the title: badges, buttons. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** Whether a page was shown before: its reader has begun at the top of the document then. */
let isFirst = true;

export function Page({ title, kind, aside, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { path } = useLocation();
  useEffect(() => {
    document.title = `${title} · Uniknode`;
  }, [title]);
  // The focus follows to another page, so that a keyboard goes on there.
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, [path]);
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {kind && <span class="kind">{kind} </span>}
          {title}
        </h1>
        {aside && <div class="page-aside">{aside}</div>}
      </header>
      {children}
    </>
  );
}

/** A part of a page with a heading. */
export type SectionProps = {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
};

export const Section = ({ title, aside, children }: SectionProps) => (
  <section class="section">
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
);

/** Names and values; those without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
