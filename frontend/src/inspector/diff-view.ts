/** Two values as one text, what went struck through and what came in bold. */

import { html, type TemplateResult } from 'lit-html';
import { lead, wordDiff } from './diff';

export const diffView = (before: string, after: string): (string | TemplateResult)[] =>
  wordDiff(before, after).map((run) => {
    if (run.change === 'same') return run.text;
    const [blank, changed] = lead(run.text);
    return html`${blank}${run.change === 'gone' ? html`<del>${changed}</del>` : html`<ins>${changed}</ins>`}`;
  });
