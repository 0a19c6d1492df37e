/** What lies over the drawing for a while: the hint while a place is chosen, the place to drop a new topic, the slider through time. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import type { AppState } from '../state';
import { shortTime } from './time';

/** By hand and key, or by finger. */
const HOW = html`<span class="by-key">click it, use arrows and Enter, or search</span><span class="by-finger">tap it, or search</span>`;

function hint(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const { picking } = state.correcting;
  if (!picking) return nothing;
  const row = picking.state === null ? undefined : state.states.get(picking.state);
  const root = picking.purpose === 'move' && row && row.parent !== null;
  return html`<div class="pick-bar" role="group" aria-label=${picking.purpose === 'move' ? 'Choosing a place' : 'Choosing a place to compare with'} data-testid="picking">
    <p>${picking.purpose === 'move'
      ? html`<b>Where does “<bdi>${row?.label ?? 'this turn'}</bdi>” go?</b> <span class="pick-how">Choose an earlier turn: ${HOW}.</span>`
      : html`<b>Why not which one?</b> <span class="pick-how">Choose any earlier turn: ${HOW}.</span>`}</p>
    <span class="pick-buttons">${root ? html`<button type="button" class="button small" data-testid="pick-root" @click=${() => actions.correct.plan(picking.state as number, null)}>${icon('plus', 15)}A topic of its own</button>` : nothing}
      <button type="button" class="button small" data-testid="pick-cancel" @click=${() => actions.correct.putBack()}>Cancel</button></span></div>`;
}

const dropZone = (state: AppState): TemplateResult | typeof nothing => {
  if (state.carried === null) return nothing;
  const root = state.states.get(state.carried)?.parent === null;
  return html`<div class="drop-root" data-drop=${root ? 'none' : 'root'} data-testid="drop-root" aria-hidden="true">${root ? 'Let go over an earlier turn. Escape puts it back.' : html`${icon('plus', 16)}Let go here to make it a topic of its own`}</div>`;
};

/** Positions of the forest in order: what the slider steps through. */
function positions(state: AppState): number[] {
  return [...state.states.values()].map((row) => row.position).sort((a, b) => a - b);
}

function slider(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (!state.travelling || !state.states.size) return nothing;
  const steps = positions(state);
  const last = steps.length - 1;
  const found = state.asOf === null ? last : steps.findLastIndex((position) => position <= state.asOf!);
  const row = state.asOf === null ? undefined : [...state.states.values()].find((one) => one.position === steps[found]);
  const words = state.asOf === null ? 'Now' : row ? `As of turn ${row.position}, ${shortTime(row.time, state.forest?.time_zone ?? 'UTC')}` : 'Before the first turn';
  return html`<div class="time-bar" role="group" aria-label="Travel in time" data-testid="time-bar">
    <span class="time-words" data-testid="time-words"><b>${words}</b>${state.asOf === null ? nothing : html`<span class="second">what came later is dim</span>`}</span>
    <input type="range" class="time-slider" min="0" max=${last} step="1" .value=${String(Math.max(0, found))} aria-label="The forest as it was after a turn" aria-valuetext=${words} data-testid="time-slider"
      @input=${(event: Event) => { const at = Number((event.currentTarget as HTMLInputElement).value); actions.asOf(at >= last ? null : steps[at]!); }}>
    <button type="button" class="button small ${state.asOf === null ? '' : 'primary'}" data-testid="time-now" @click=${() => actions.travel(false)}>Back to now</button></div>`;
}

export const overForest = (state: AppState, actions: Actions): TemplateResult => html`${hint(state, actions)}${dropZone(state)}${slider(state, actions)}`;
