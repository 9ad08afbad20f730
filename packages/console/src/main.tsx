/** Mounts the application. */
import { render } from "preact";

render(<p>Uniknode</p>, document.body);
