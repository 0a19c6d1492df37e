/** *Health*: how large the forest is, whether its memory keeps up, how sure it is, and what was changed by hand. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { count, dayName, duration, percent, shortTime } from '../shell/time';
import type { AppState, Loaded } from '../state';
import type { Change, Series } from '../types';
import { SURE } from './bars';
import { whatIsMissing } from './missing';
import { median } from './median';
import { plot } from './plots';

const MS = 1_000;
/** A commit that takes longer is worth a word of its own. */
const MOST_LAGS = 60;

/** A day without a time, "2026-03-10", as "10 Mar". */
const day = (name: string): string => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(`${name}T12:00:00Z`));

const short = (tokens: number): string => (tokens >= 1e6 ? `${(tokens / 1e6).toFixed(1)} M` : tokens >= 1e4 ? `${Math.round(tokens / 1e3)} k` : tokens.toLocaleString('en'));

function plots(series: Series, zone: string): TemplateResult {
  const lag = series.lag.slice(-MOST_LAGS);
  const spent = series.tokens.reduce((all, one) => all + (one.cost ?? 0), 0);
  const used = series.tokens.reduce((all, one) => all + one.input + one.output, 0);
  const turns = series.confidence.reduce((all, one) => all + one.turns, 0);
  const mean = turns ? series.confidence.reduce((all, one) => all + one.mean * one.turns, 0) / turns : 0;
  const corrected = series.corrections.reduce((all, one) => all + one.count, 0);
  const seconds = (value: number) => duration(value * MS);
  const money = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 2 });
  const tokens = ({ input, output, cost }: Series['tokens'][number]) =>
    `${input.toLocaleString('en')} read, ${output.toLocaleString('en')} written${cost ? `, ${money(cost)} paid` : ''}`;
  const sure = ({ mean: of, turns: n, unsure }: Series['confidence'][number]) => `${percent(of)} over ${count(n, 'turn')}${unsure ? `, ${unsure} unsure` : ''}`;
  return html`<div class="plots" data-testid="plots">
    ${plot({
      title: 'From answer to memory', now: lag.length ? `usually ${seconds(median(lag.map((one) => one.seconds)))}` : 'nothing yet', colours: [2],
      points: lag.map((one) => ({ name: shortTime(one.at, zone), values: [one.seconds], words: seconds(one.seconds) })),
    })}
    ${plot({
      title: 'Tokens a day', now: used ? `${short(used)} in all${spent ? `, ${money(spent)} paid` : ''}` : 'no model was asked', colours: [1, 4], legend: ['read', 'written'],
      points: used ? series.tokens.map((one) => ({ name: day(one.day), values: [one.input, one.output], words: tokens(one) })) : [],
    })}
    ${plot({
      title: 'How sure places are', now: turns ? `${percent(mean)} on average` : 'nothing placed yet', colours: [1], most: 1, line: true, level: { at: SURE, label: 'sure' },
      points: series.confidence.map((one) => ({ name: day(one.day), values: [one.mean], words: sure(one) })),
    })}
    ${plot({
      title: 'Corrections', now: corrected ? count(corrected, 'correction') : 'none', colours: [4],
      points: corrected ? series.corrections.map((one) => ({ name: day(one.day), values: [one.count], words: count(one.count, 'correction') })) : [],
    })}
  </div>`;
}

function changeView(change: Change, zone: string, actions: Actions): TemplateResult {
  const go = change.item
    ? () => actions.inspectItem(change.item!.kind, change.item!.id, change.state)
    : change.state === null ? null : () => actions.select(change.state, { center: true });
  return html`<li class=${change.undone_at ? 'undone' : ''} data-testid="change" data-action=${change.action}><p dir="auto">${go ? html`<button type="button" class="change-words" @click=${go}>${change.words}</button>` : change.words}</p>
    <div class="item-meta"><span>by ${change.by ?? 'someone'}, ${shortTime(change.at, zone)}</span>${change.undone_at
      ? html`<span class="tag">undone</span>`
      : change.undoable ? html`<button type="button" class="text-link" data-testid="undo-change" aria-label=${`Undo: ${change.words}`} @click=${() => actions.correct.undo(change.id)}>Undo</button>` : html`<span>can’t be undone any more</span>`}</div></li>`;
}

function changes(loaded: Loaded<{ list: Change[]; next: string | number | null }>, zone: string, actions: Actions): TemplateResult {
  return html`<section class="block" aria-labelledby="changes"><h3 id="changes">Changes by hand</h3>${loaded.status !== 'here'
    ? whatIsMissing(loaded)
    : loaded.value.list.length
      ? html`<ul class="moves" data-testid="changes">${loaded.value.list.map((change) => changeView(change, zone, actions))}</ul>
        ${loaded.value.next === null ? nothing : html`<button type="button" class="button small" @click=${() => actions.correct.moreChanges()}>Earlier changes</button>`}`
      : html`<p class="second">Nothing was moved, edited or taken back yet. What you change is listed here and can be undone.</p>`}</section>`;
}

export function healthView(state: AppState, actions: Actions): TemplateResult {
  const { forest } = state;
  if (!forest) return html``;
  const zone = forest.time_zone;
  const unsure = [...state.states.values()].filter((row) => row.unsure).length;
  const replaced = [...state.states.values()].filter((row) => row.replaced).length;
  const row = (label: string, value: string | number, note = '') =>
    html`<div class="health-row"><dt>${label}${note ? html`<small>${note}</small>` : ''}</dt><dd>${typeof value === 'number' ? value.toLocaleString('en') : value}</dd></div>`;
  const oldest = state.series.status === 'here' ? state.series.value.oldest_pending : null;
  return html`<h2 class="turn-title">${forest.name}</h2>
    <p class="meta">Planted ${dayName(forest.created_at, zone)}, times in ${zone.replace(/_/g, ' ')}</p>
    <div class="note ${state.pending ? 'sun' : 'good'} line" data-testid="health-lag"><p>${state.pending
      ? state.pending === 1
        ? 'One turn is still being read into memory. Until then it is used as it was said.'
        : `${state.pending.toLocaleString('en')} turns are still being read into memory. Until then they are used as they were said.`
      : 'Memory is up to date.'}${state.pending && oldest ? ` The oldest has waited since ${shortTime(oldest, zone)}.` : ''}</p></div>
    <dl class="health">
      ${row('Turns in the forest', state.states.size)}
      ${row('Topics', state.trees.size)}
      ${row('Facts that hold', forest.counts.facts)}
      ${row('Turns placed unsurely', unsure)}
      ${row('Turns with a value since replaced', replaced)}
      ${row('Language model', state.me?.model === 'offline' ? 'none connected' : state.me?.model ?? '')}
    </dl>
    ${state.series.status === 'here' ? plots(state.series.value, zone) : state.series.status === 'failed' ? whatIsMissing(state.series) : nothing}
    ${changes(state.correcting.changes, zone, actions)}`;
}
