/** The style sheets that every screen has, in the order of their layers. */
import "./base.css";
import "./tokens.css";
import "./parts.css";
