/** *What the model saw*: each block of the context, how much of the budget it took, and what was cut. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { count, percent } from '../shell/time';
import type { AppState } from '../state';
import type { Context, ContextItem } from '../types';
import { rowBar, shareBar, type Part } from './bars';

/** Which part colour a block has; what isn't named shares the third. */
const COLOURS: Record<string, number> = {
  ConversationHistory: 1, SupplementalEvidence: 3, Instructions: 5, DataContext: 2, UpdateEvidence: 2,
  ArtifactEvidence: 4, EventEvidence: 4, EventComputationEvidence: 4, CountSourceEvidence: 4, StateEvidence: 3, Question: 5,
};
const NOUNS: Record<string, string> = {
  DataContext: 'fact', ConversationHistory: 'turn of the path', SupplementalEvidence: 'other turn', ArtifactEvidence: 'list', EventEvidence: 'event', StateEvidence: 'value', UpdateEvidence: 'change',
};
const STATUS: Record<string, string> = { superseded: 'replaced', retracted: 'taken back', quarantined: 'set aside', pending: 'not refined yet' };

interface Row extends Part {
  name: string;
  note: string;
  items: ContextItem[];
}

function rowsOf(context: Context): Row[] {
  const rows = context.blocks.map((block): Row => ({
    name: block.name, label: block.label, value: block.tokens, note: block.note, items: block.items, colour: block.label === 'Second path' ? 3 : COLOURS[block.name] ?? 3,
  }));
  const extra = (name: string, label: string, value: number, colour: number) => {
    if (value > 0 && !rows.some((row) => row.name === name)) rows.push({ name, label, value, note: '', items: [], colour });
  };
  extra('Instructions', 'Instructions and time', context.instructions_tokens, 5);
  rows.sort((a, b) => b.value - a.value);
  extra('Question', 'Your question', context.input_tokens, 5);
  return rows;
}

/** Where an item came from: a state of this forest can be gone to. */
function source(id: number | string, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const row = typeof id === 'number' ? state.states.get(id) : undefined;
  return row ? html`<button type="button" class="text-link" @click=${() => actions.select(row.id, { center: true })}>turn ${row.position}</button>` : nothing;
}

const itemView = (item: ContextItem, state: AppState, actions: Actions): TemplateResult => html`<li class=${item.status === 'superseded' ? 'old' : ''}>
  <p dir="auto">${item.text}</p>
  <div class="item-meta">${item.status && STATUS[item.status] ? html`<span class="tag">${STATUS[item.status]}</span>` : nothing}
    ${item.sources.slice(0, 3).map((id) => source(id, state, actions))}<span class="number">${item.tokens.toLocaleString('en')}</span></div></li>`;

function rowView(row: Row, largest: number, budget: number, state: AppState, actions: Actions): TemplateResult {
  const open = state.openBlocks.has(row.label);
  const inner = html`<span class="ctx-name">${row.label}</span><span class="ctx-bar">${rowBar(row.value, largest, row.colour)}</span>
    <span class="number" title=${`${percent(row.value / (budget || 1))} of the budget`}>${row.value.toLocaleString('en')}</span>`;
  return html`<li>${row.items.length
    ? html`<button type="button" class="ctx-row" aria-expanded=${open} data-testid="block" data-block=${row.name} @click=${() => actions.toggleBlock(row.label)}>${inner}
        <span class="twist ${open ? 'open' : ''}">${icon('chevron', 13)}</span></button>`
    : html`<div class="ctx-row" data-testid="block" data-block=${row.name}>${inner}<span></span></div>`}
    ${open
      ? html`<div class="ctx-items"><p class="second">${row.note ? `${row.note}. ` : ''}${percent(row.value / (budget || 1))} of the budget.</p><ul>${row.items.map((item) => itemView(item, state, actions))}</ul></div>`
      : nothing}</li>`;
}

/** "3 facts", "2 turns of the path". */
const cutCount = (n: number, noun: string): string => {
  const [first, ...rest] = noun.startsWith('other ') ? [noun] : noun.split(' ');
  return [count(n, first!), ...rest].join(' ');
};

function cutWords(context: Context): string[] {
  return context.cut.filter((cut) => cut.count > 0).map((cut) => `${cutCount(cut.count, NOUNS[cut.block] ?? 'piece')} left out, ${cut.reason}`);
}

/** The budget is for evidence; instructions and the question are counted beside it. */
function budgetWords(context: Context): string {
  const used = `${context.tokens.toLocaleString('en')} of ${context.budget.toLocaleString('en')} tokens, ${percent(context.budget ? context.tokens / context.budget : 0)}`;
  const evidence = context.blocks.reduce((sum, block) => sum + block.tokens, 0);
  const beside = context.instructions_tokens + context.input_tokens;
  return beside > 0 && context.tokens < evidence + beside ? `${used}, ${beside.toLocaleString('en')} beside them` : used;
}

export function contextView(context: Context, state: AppState, actions: Actions): TemplateResult {
  const rows = rowsOf(context);
  const largest = Math.max(...rows.map((row) => row.value), 1);
  return html`<section class="block" aria-labelledby="saw">
    <div class="block-head"><h3 id="saw">What the model saw</h3>
      <span class="second">${budgetWords(context)}</span></div>
    ${shareBar(rows, rows.map((row) => `${row.label} ${row.value}`).join(', '))}
    <ul class="ctx">${rows.map((row) => rowView(row, largest, context.budget, state, actions))}</ul>
    ${cutWords(context).map((words) => html`<p class="second cut">${words}</p>`)}
  </section>`;
}
