/** The words that changed from one value to the next. */

import { diffWordsWithSpace } from 'diff';

export interface Run {
  text: string;
  change: 'same' | 'gone' | 'new';
}

/** Word by word; scripts without spaces are cut into words by `Intl.Segmenter`. A blank between two runs of one change joins them. */
export function wordDiff(before: string, after: string): Run[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  const raw = diffWordsWithSpace(before, after, { intlSegmenter: segmenter });
  const runs: Run[] = [];
  let gone = '';
  let fresh = '';
  const flush = () => {
    if (gone) runs.push({ text: gone, change: 'gone' });
    if (fresh) runs.push({ text: fresh, change: 'new' });
    gone = fresh = '';
  };
  raw.forEach((part, index) => {
    if (part.removed) gone += part.value;
    else if (part.added) fresh += part.value;
    else {
      const next = raw[index + 1];
      if (/^\s+$/.test(part.value) && (gone || fresh) && next && (next.removed || next.added)) {
        gone += part.value;
        fresh += part.value;
      } else {
        flush();
        runs.push({ text: part.value, change: 'same' });
      }
    }
  });
  flush();
  return runs;
}
