/** Style sheets of every screen, in layer order. */
import "./base.css";
import "./tokens.css";
import "./parts.css";
