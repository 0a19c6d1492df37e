/** *Why not that one?*: the bars of a place that wasn't taken beside those of the one that was. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { leafOf } from '../shell/leaf';
import { figure, percent } from '../shell/time';
import type { AppState } from '../state';
import type { Comparison, TraceCandidate } from '../types';
import { partColour, scaleOf, scoreBar, type Part, type Scale } from './bars';
import { whatIsMissing } from './missing';

const partsOf = (candidate: TraceCandidate, parts: Comparison['parts']): Part[] =>
  parts.map((part, i) => ({ label: part.label, value: candidate.parts[part.key] ?? 0, colour: partColour(part.key, i) }));

function row(candidate: TraceCandidate, won: boolean, comparison: Comparison, scale: Scale, state: AppState, actions: Actions): TemplateResult {
  const tree = candidate.root === null ? undefined : state.trees.get(candidate.root);
  return html`<div class="candidate" data-testid=${won ? 'compared-winner' : 'compared-other'}>
    <span class="candidate-leaf">${candidate.state === null ? icon('plus', 15) : leafOf(tree, 15)}</span>
    <div class="candidate-body"><div class="candidate-head">
      ${candidate.state === null
        ? html`<span class="candidate-name">${candidate.label}</span>`
        : html`<button type="button" class="candidate-name plain" @click=${() => actions.select(candidate.state, { center: true })}>${candidate.label}</button>`}
      <span class="second">${won ? 'where it went' : candidate.tree && candidate.tree !== candidate.label ? candidate.tree : ''}</span>
      <span class="percent ${won ? 'won' : ''}">${percent(candidate.probability)}</span></div>
      ${scoreBar(partsOf(candidate, comparison.parts), scale.perUnit, scale.zero)}</div></div>`;
}

const signed = (value: number): string => `${value > 0.004 ? '+' : ''}${figure(value)}`;

function differences({ candidate, winner, parts }: Comparison): TemplateResult {
  return html`<table class="numbers"><caption class="hidden">Score parts of both places</caption>
    <thead><tr><th scope="col">Part</th><th scope="col">Taken</th><th scope="col">This one</th><th scope="col">Difference</th></tr></thead>
    <tbody>${parts.map((part) => {
      const [taken, other] = [winner.parts[part.key] ?? 0, candidate.parts[part.key] ?? 0];
      return html`<tr><th scope="row">${part.label}</th><td>${figure(taken)}</td><td>${figure(other)}</td><td>${signed(other - taken)}</td></tr>`;
    })}
      <tr class="sum"><th scope="row">Score</th><td>${figure(winner.score)}</td><td>${figure(candidate.score)}</td><td>${signed(candidate.score - winner.score)}</td></tr></tbody></table>`;
}

/** The comparison for a turn; nothing while none was asked for. */
export function compareView(turn: number, room: number, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const { compared, comparison: loaded } = state.correcting;
  if (!compared || compared.turn !== turn) return nothing;
  const label = state.states.get(compared.state)?.label ?? 'that one';
  const head = html`<div class="block-head"><h3 id="why-not">Why not “<bdi>${label}</bdi>”?</h3>
    <button type="button" class="icon-button" aria-label="Close the comparison" data-testid="compare-close" @click=${() => actions.correct.endComparison()}>${icon('close', 15)}</button></div>`;
  if (loaded.status !== 'here') return html`<section class="block compared" aria-labelledby="why-not">${head}${whatIsMissing(loaded)}</section>`;
  const comparison = loaded.value;
  const scale = scaleOf([comparison.winner, comparison.candidate], room);
  const moved = [...state.states.values()].find((one) => one.turn === turn);
  return html`<section class="block compared" aria-labelledby="why-not" data-testid="comparison">${head}
    <p class="why" data-testid="compare-words">${comparison.words}</p>
    ${comparison.changed ? html`<p class="second">The forest was corrected since, so both are scored as it was put right; the trace shows what counted then.</p>` : nothing}
    <div class="candidates">${row(comparison.winner, true, comparison, scale, state, actions)}${row(comparison.candidate, false, comparison, scale, state, actions)}</div>
    ${differences(comparison)}
    ${moved ? html`<button type="button" class="button small compare-move" data-testid="compare-move" @click=${() => actions.correct.plan(moved.id, compared.state)}>${icon('move', 15)}Move it there…</button>` : nothing}</section>`;
}
