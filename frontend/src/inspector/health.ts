/** *Health*: how large the forest is and whether its memory keeps up. */

import { html, type TemplateResult } from 'lit-html';
import { dayName } from '../shell/time';
import type { AppState } from '../state';

export function healthView(state: AppState): TemplateResult {
  const { forest } = state;
  if (!forest) return html``;
  const unsure = [...state.states.values()].filter((row) => row.unsure).length;
  const replaced = [...state.states.values()].filter((row) => row.replaced).length;
  const row = (label: string, value: string | number, note = '') =>
    html`<div class="health-row"><dt>${label}${note ? html`<small>${note}</small>` : ''}</dt><dd>${typeof value === 'number' ? value.toLocaleString('en') : value}</dd></div>`;
  return html`<h2 class="turn-title">${forest.name}</h2>
    <p class="meta">Planted ${dayName(forest.created_at, forest.time_zone)}, times in ${forest.time_zone.replace(/_/g, ' ')}</p>
    <div class="note ${state.pending ? 'sun' : 'good'} line" data-testid="health-lag"><p>${state.pending
      ? state.pending === 1
        ? 'One turn is still being read into memory. Until then it is used as it was said.'
        : `${state.pending.toLocaleString('en')} turns are still being read into memory. Until then they are used as they were said.`
      : 'Memory is up to date.'}</p></div>
    <dl class="health">
      ${row('Turns in the forest', state.states.size)}
      ${row('Topics', state.trees.size)}
      ${row('Facts that hold', forest.counts.facts)}
      ${row('Turns placed unsurely', unsure)}
      ${row('Turns with a value since replaced', replaced)}
      ${row('Language model', state.me?.model === 'offline' ? 'none connected' : state.me?.model ?? '')}
    </dl>`;
}
