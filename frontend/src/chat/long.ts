/** Messages too long to be read in passing: their beginning is shown, the rest on demand. */

const LONG = { characters: 1_600, lines: 24 };
const HEAD = { characters: 480, lines: 7 };

/** The beginning of a long text, cut at a line or a word; null for one that is shown whole. */
export function headOf(text: string): string | null {
  const lines = text.split('\n', LONG.lines + 1);
  if (text.length <= LONG.characters && lines.length <= LONG.lines) return null;
  const head = lines.slice(0, HEAD.lines).join('\n');
  if (head.length <= HEAD.characters) return head.trimEnd();
  const cut = head.slice(0, HEAD.characters);
  const word = cut.search(/\s\S*$/);
  // Scripts without blanks between words: at a whole character.
  const whole = word > HEAD.characters / 2 ? cut.slice(0, word) : cut.replace(/[\ud800-\udbff]$/, '');
  return whole.trimEnd();
}
