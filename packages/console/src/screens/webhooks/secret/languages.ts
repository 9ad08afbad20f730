/** Complete receivers in five languages; a test plays `uniknode conform` against each. */
import go from "../../../../../../examples/receivers/receiver.go?raw";
import javascript from "../../../../../../examples/receivers/receiver.mjs?raw";
import php from "../../../../../../examples/receivers/receiver.php?raw";
import python from "../../../../../../examples/receivers/receiver.py?raw";
import ruby from "../../../../../../examples/receivers/receiver.rb?raw";

export const LANGUAGES = [
  { id: "javascript", title: "JavaScript", text: javascript },
  { id: "python", title: "Python", text: python },
  { id: "go", title: "Go", text: go },
  { id: "php", title: "PHP", text: php },
  { id: "ruby", title: "Ruby", text: ruby },
] as const;
