/** Verifying receivers in four languages; a test runs each against a real node. */
import go from "../../../../receivers/receiver.go?raw";
import javascript from "../../../../receivers/receiver.mjs?raw";
import php from "../../../../receivers/receiver.php?raw";
import python from "../../../../receivers/receiver.py?raw";

export const LANGUAGES = [
  { id: "javascript", title: "JavaScript", text: javascript },
  { id: "python", title: "Python", text: python },
  { id: "go", title: "Go", text: go },
  { id: "php", title: "PHP", text: php },
] as const;
