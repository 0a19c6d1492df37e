/** Times and tokens of a turn, step by step. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { duration } from '../shell/time';
import type { Trace } from '../types';

const STEPS: [key: string, label: string][] = [
  ['localize_ms', 'Place found'], ['ask_ms', 'Model asked for the place'], ['assemble_ms', 'Context put together'], ['first_delta_ms', 'First word'], ['answer_ms', 'Answer written'],
  ['commit_ms', 'Kept'], ['vector_ms', 'Meaning computed'], ['refine_ms', 'Read into memory'],
];
const STAGES: Record<string, string> = { answer: 'Answer', extract: 'Reading for memory', embed: 'Meaning', rerank: 'Ranking', route: 'Place' };

/** A price to two digits that matter, never as 1e-5. */
const money = (value: number): string => (value === 0 ? '0' : value.toLocaleString('en', { maximumSignificantDigits: 2 }));

function times({ timings }: Trace): TemplateResult | typeof nothing {
  const known = STEPS.filter(([key]) => typeof timings[key] === 'number');
  if (!known.length) return nothing;
  return html`<table class="numbers"><thead><tr><th scope="col">Step</th><th scope="col">Took</th></tr></thead>
    <tbody>${known.map(([key, label]) => html`<tr><th scope="row">${label}</th><td>${key === 'first_delta_ms' ? 'after ' : ''}${duration(timings[key] as number)}</td></tr>`)}</tbody></table>`;
}

function tokens({ tokens: { stages } }: Trace): TemplateResult {
  const used = Object.entries(stages);
  if (!used.length) return html`<p class="second">No model was asked, so there are no tokens to pay for.</p>`;
  const thought = used.some(([, stage]) => stage.reasoning > 0);
  const paid = used.some(([, stage]) => stage.cost !== null);
  const number = (value: number) => html`<td>${value.toLocaleString('en')}</td>`;
  const heads = ['Model asked for', 'Calls', 'Read', 'Written', ...(thought ? ['Thought'] : []), ...(paid ? ['Cost'] : [])];
  return html`<table class="numbers"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${used.map(([name, stage]) => html`<tr><th scope="row">${STAGES[name] ?? name}${stage.estimated ? html` <span class="second">counted here</span>` : nothing}</th>${number(stage.calls)}${number(stage.input)}${number(stage.output)}
      ${thought ? number(stage.reasoning) : nothing}${paid ? html`<td>${stage.cost === null ? '' : money(stage.cost)}</td>` : nothing}</tr>`)}</tbody></table>`;
}

export const costsView = (trace: Trace): TemplateResult =>
  html`<details class="more-about" data-testid="costs"><summary>Times and tokens, step by step</summary>${times(trace)}${tokens(trace)}</details>`;
