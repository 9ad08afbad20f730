/** Frame around every screen. */

import { useState } from "preact/hooks";
import { ErrorBoundary } from "preact-iso/lazy";
import { LocationProvider, Route, Router } from "preact-iso/router";
import { Announcements } from "../components/announce.tsx";
import { loadable } from "../components/loadable.tsx";
import { Page } from "../components/page.tsx";
import { Header } from "./header.tsx";
import { Navigation } from "./navigation.tsx";
import { routes } from "./routes.ts";
import "./frame.css";

/** Notices and shortcuts, loaded after the first screen. */
const Notices = loadable(() => import("./notices.tsx"), "nothing");
const Shortcuts = loadable(() => import("./shortcuts.tsx"), "nothing");

/** Paths of the console; the browser opens all others. */
const SCOPE = /^\/console(\/|$|\?)/;

export function Frame() {
  return (
    <LocationProvider scope={SCOPE}>
      <div class="frame">
        <a class="button skip" href="#main">
          Skip to the content
        </a>
        <Header />
        <div class="notices" role="status">
          <ErrorBoundary>
            <Notices />
          </ErrorBoundary>
        </div>
        <Navigation />
        <main class="main" id="main" tabIndex={-1}>
          <Screens />
        </main>
      </div>
      <ErrorBoundary>
        <Shortcuts />
      </ErrorBoundary>
      <Announcements />
    </LocationProvider>
  );
}

function Screens() {
  const [error, setError] = useState<unknown>();
  if (error !== undefined) {
    return (
      <Page title="This page failed">
        <p>The node may have been updated while it was open. ({`${error}`})</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      </Page>
    );
  }
  return (
    <ErrorBoundary onError={setError}>
      <Router onRouteChange={() => setError(undefined)}>
        {routes.map(({ path, component }) => (
          <Route key={path} path={path} component={component} />
        ))}
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  );
}

function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        There is no page at this address. <a href="/console/">To the overview</a>
      </p>
    </Page>
  );
}
