/** The words that changed from one value to the next. */

import { diffArrays } from 'diff';

export interface Run {
  text: string;
  change: 'same' | 'gone' | 'new';
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
const CURRENCY = /^\p{Sc}$/u;
const NUMBER = /^\d/;

/** Words and what stands between them; an amount stays whole with its sign, and scripts without spaces are cut as well. */
export function words(text: string): string[] {
  const tokens: string[] = [];
  for (const { segment } of segmenter.segment(text)) {
    const last = tokens.at(-1) ?? '';
    if ((CURRENCY.test(last) && NUMBER.test(segment)) || (NUMBER.test(last.replace(/^\p{Sc}/u, '')) && /^(?:%|\p{Sc})$/u.test(segment))) tokens[tokens.length - 1] = last + segment;
    else tokens.push(segment);
  }
  return tokens;
}

/** Runs in reading order. Those that are not new make up the old text, those that are not gone the new one.
 *  A blank between two changes belongs to both, so that a changed phrase is one run. */
export function wordDiff(before: string, after: string): Run[] {
  const parts = diffArrays(words(before), words(after));
  const runs: Run[] = [];
  let gone = '';
  let fresh = '';
  const flush = () => {
    if (gone) runs.push({ text: gone, change: 'gone' });
    if (fresh) runs.push({ text: fresh, change: 'new' });
    gone = fresh = '';
  };
  parts.forEach((part, index) => {
    const text = part.value.join('');
    const next = parts[index + 1];
    if (part.removed) gone += text;
    else if (part.added) fresh += text;
    else if (/^\s+$/.test(text) && (gone || fresh) && next) {
      gone += text;
      fresh += text;
    } else {
      flush();
      runs.push({ text, change: 'same' });
    }
  });
  flush();
  return runs;
}

/** What stands before a changed run and needs no mark: blanks and the comma that joins it. */
export const lead = (text: string): [string, string] => {
  const at = /^[\s,;:]*/.exec(text)![0].length;
  return at === text.length ? ['', text] : [text.slice(0, at), text.slice(at)];
};
