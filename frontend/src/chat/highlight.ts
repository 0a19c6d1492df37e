/** Code in colour. The languages come in a chunk of their own; until it is here code is shown plain. */

type Colour = (code: string, language: string) => string | null;

/** Beyond this a block stays plain: colouring it would hold up the page. */
const LONGEST = 40_000;
const MOST_KEPT = 200;
const TRY_AGAIN = 10_000;
/** What people and models write on a fence that is no language. */
const PLAIN = new Set(['', 'text', 'txt', 'plain', 'plaintext', 'none', 'output', 'log']);

let colour: Colour | null = null;
let triedAt = -Infinity;
let told: () => void = () => undefined;
const kept = new Map<string, string>();

/** Calls `listen` once, when code can be coloured and what is shown should be drawn anew. */
export const whenColoured = (listen: () => void): void => void (told = listen);

export async function loadLanguages(): Promise<void> {
  triedAt = performance.now();
  try {
    ({ colour } = await import('./languages'));
    told();
  } catch {
    // Code stays plain; a later block tries again.
  }
}

/** HTML of the code, or null when it is to be shown plain (for now). The same code is coloured once. */
export function coloured(code: string, name: string): string | null {
  const language = name.toLowerCase();
  if (PLAIN.has(language) || code.length > LONGEST) return null;
  if (!colour) {
    if (performance.now() - triedAt > TRY_AGAIN) void loadLanguages();
    return null;
  }
  const key = `${language}\n${code}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = colour(code, language);
  if (made === null) return null;
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, made);
  return made;
}
