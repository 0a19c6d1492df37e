/** What opens under the filter button: topic, name, days and marks. */

import { html, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { count } from '../shell/time';
import type { AppState } from '../state';
import { MARKS, noFilter, passing, strength, type Mark } from './filtering';

const MARK_WORDS: Record<Mark, string> = { facts: 'gave facts', replaced: 'gave a value since replaced', unsure: 'were placed unsurely', moved: 'were moved by you', pending: 'are still being read' };
const MOST_NAMES = 60;

/** Names said most often first. */
function names(state: AppState): string[] {
  const told = new Map<string, number>();
  for (const row of state.states.values()) for (const name of row.entities) told.set(name, (told.get(name) ?? 0) + 1);
  return [...told].sort((a, b) => b[1] - a[1]).slice(0, MOST_NAMES).map(([name]) => name);
}

export function panel(state: AppState, actions: Actions): TemplateResult {
  const { filter } = state;
  const passed = passing(state.states.values(), filter, state.forest?.time_zone ?? 'UTC');
  const mark = (one: Mark, on: boolean) => actions.filter({ marks: MARKS.filter((other) => (other === one ? on : filter.marks.includes(other))) });
  const value = (event: Event) => (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;
  return html`<div class="menu right filters" id="filters" role="group" aria-label="Filters" data-testid="filters">
    <label for="filter-topic">Topic</label>
    <select id="filter-topic" class="ask-field" data-testid="filter-topic" @change=${(event: Event) => actions.filter({ topic: Number(value(event)) || null })}>
      <option value="" ?selected=${filter.topic === null}>All</option>
      ${[...state.trees.values()].sort((a, b) => a.order - b.order).map((tree) => html`<option value=${tree.root} ?selected=${filter.topic === tree.root}>${tree.topic}</option>`)}</select>
    <label for="filter-name">Name in it</label>
    <input id="filter-name" class="ask-field" type="text" maxlength="120" list="filter-names" autocomplete="off" data-testid="filter-name" .value=${filter.name} @input=${(event: Event) => actions.filter({ name: value(event) })}>
    <datalist id="filter-names">${names(state).map((name) => html`<option value=${name}></option>`)}</datalist>
    <div class="filter-days"><div><label for="filter-from">From</label><input id="filter-from" class="ask-field" type="date" .value=${filter.from} max=${filter.to} @change=${(event: Event) => actions.filter({ from: value(event) })}></div>
      <div><label for="filter-to">To</label><input id="filter-to" class="ask-field" type="date" .value=${filter.to} min=${filter.from} @change=${(event: Event) => actions.filter({ to: value(event) })}></div></div>
    <fieldset><legend>Only turns that</legend>${MARKS.map((one) => html`<label class="ask-choice"><input type="checkbox" .checked=${filter.marks.includes(one)} data-testid=${`filter-${one}`}
      @change=${(event: Event) => mark(one, (event.currentTarget as HTMLInputElement).checked)}><span>${MARK_WORDS[one]}</span></label>`)}</fieldset>
    <div class="filter-foot"><span class="second" role="status" data-testid="filter-count">${passed === null ? `All ${count(state.states.size, 'turn')}` : `${passed.size.toLocaleString('en')} of ${count(state.states.size, 'turn')}`}</span>
      <button type="button" class="button small" ?disabled=${!strength(filter)} data-testid="filter-clear" @click=${() => actions.filter(noFilter())}>Show all</button></div>
  </div>`;
}
