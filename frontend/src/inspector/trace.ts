/** *Why here*: what decided where a turn went, and what the model was shown. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import type { ChatTurn } from '../chat/turns';
import { icon } from '../icons';
import { leafOf } from '../shell/leaf';
import { count, duration, figure, longTime, percent } from '../shell/time';
import { placeWords, type AppState } from '../state';
import type { Trace, TraceCandidate, TraceDecision } from '../types';
import { chance, partColour, scaleOf, scoreBar, SURE, type Scale } from './bars';
import { compareView } from './compare';
import { contextView } from './context';
import { contrastView } from './contrast';
import { costsView } from './costs';

const MOST_SHOWN = 5;
const CHANNELS: Record<string, string> = { semantic: 'meaning', keyword: 'words', entity: 'names', topic: 'topic', temporal: 'time', recency: 'recency' };

/** What is known of a turn before its trace is written: the message that said where it goes. */
export function liveTrace(turn: ChatTurn, state: AppState): Trace | null {
  if (!turn.decision) return null;
  const candidates = turn.candidates.map((candidate): TraceCandidate => ({
    ...candidate, tree: candidate.root === null ? null : state.trees.get(candidate.root)?.topic ?? null,
    active: false, score: 0, parts: {}, channels: {}, signs: {},
  }));
  const { method, parent, root, probability, unsure } = turn.decision;
  return {
    turn: turn.id as number, position: null, text: turn.text, time: turn.sent_at, answered_by: null,
    decision: { method, chosen: parent, root, probability, margin: 0, unsure, threshold: 0, why: placeWords(state, turn.decision), corrected_by: null, corrected_from: null, corrected_at: null, parts: [], candidates, next: null, contrast: [] },
    context: null, timings: {}, tokens: { input: 0, output: 0, cost: null, stages: {}, notes: [] },
  };
}

const ordinal = (n: number): string => {
  const tens = n % 100;
  return `${n}${tens > 10 && tens < 14 ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' } as Record<number, string>)[n % 10] ?? 'th'}`;
};

function ranks(candidate: TraceCandidate, close: boolean): TemplateResult {
  const names = Object.entries(candidate.channels);
  return html`<div class="ranks">${names.length
    ? names.map(([name, hit]) => html`<span>${CHANNELS[name] ?? name} ${hit ? `${ordinal(hit.rank)}${close ? `, ${hit.score.toFixed(2)}` : ''}` : 'none'}</span>`)
    : html`<span>no path to compare</span>`}${close ? html`<span class="score-sum">score ${candidate.score.toFixed(1)}</span>` : nothing}</div>`;
}

/** Every channel that looked for it with its rank and score, and every part of the score, in numbers. */
function numbers(candidate: TraceCandidate, decision: TraceDecision): TemplateResult {
  const channels = Object.entries(candidate.channels);
  return html`<div class="in-numbers">
    ${channels.length
      ? html`<table class="numbers"><thead><tr><th scope="col">Found by</th><th scope="col">Rank</th><th scope="col">Score</th></tr></thead>
        <tbody>${channels.map(([name, hit]) => html`<tr><th scope="row">${CHANNELS[name] ?? name}</th><td>${hit ? ordinal(hit.rank) : 'not found'}</td><td>${hit ? figure(hit.score) : ''}</td></tr>`)}</tbody></table>`
      : html`<p class="second">No path to compare.</p>`}
    <table class="numbers"><thead><tr><th scope="col">Part of the score</th><th scope="col">Adds</th></tr></thead>
      <tbody>${decision.parts.map((part) => html`<tr><th scope="row">${part.label}</th><td>${figure(candidate.parts[part.key] ?? 0)}</td></tr>`)}
        <tr class="sum"><th scope="row">Score</th><td>${figure(candidate.score)}</td></tr></tbody></table></div>`;
}

/** What all candidates of a turn share. */
interface Shared {
  decision: TraceDecision;
  scale: Scale;
  /** The second parent, whose path the model was shown too. */
  second: number | null;
}

function candidateView(candidate: TraceCandidate, index: number, { decision, scale, second }: Shared, state: AppState, actions: Actions): TemplateResult {
  const won = candidate.state === decision.chosen;
  const tree = candidate.root === null ? undefined : state.trees.get(candidate.root);
  const open = state.openCandidates.has(index);
  const notes = [
    candidate.tree && candidate.tree !== candidate.label ? candidate.tree : '', candidate.active ? 'active' : '',
    !won && candidate.state !== null && candidate.state === second ? 'shown to the model too' : '',
  ].filter(Boolean).join(', ');
  const parts = decision.parts.map((part, i) => ({ label: part.label, value: candidate.parts[part.key] ?? 0, colour: partColour(part.key, i) }));
  const scored = parts.some((part) => part.value);
  return html`<li class="candidate" data-testid="candidate" data-state=${candidate.state ?? ''} @pointerenter=${() => actions.preview(candidate.state)} @pointerleave=${() => actions.preview(null)}>
    <span class="candidate-leaf">${candidate.state === null ? icon('plus', 15) : leafOf(tree, 15)}</span>
    <div class="candidate-body">
      <div class="candidate-head">
        ${candidate.state === null
          ? html`<span class="candidate-name">${candidate.label}</span>`
          : html`<button type="button" class="candidate-name plain" @click=${() => actions.select(candidate.state, { center: true })}>${candidate.label}</button>`}
        <span class="second">${notes}</span>
        <span class="percent ${won ? 'won' : ''}">${percent(candidate.probability)}</span>
      </div>
      ${scored ? scoreBar(parts, scale.perUnit, scale.zero) : nothing}
      ${chance(candidate.probability, won, index === 0)}
      ${scored || Object.keys(candidate.channels).length ? open ? numbers(candidate, decision) : won ? ranks(candidate, scale.close) : nothing : nothing}
    </div>
    ${scored || Object.keys(candidate.channels).length
      ? html`<button type="button" class="icon-button twist ${open ? 'open' : ''}" aria-expanded=${open} aria-label=${`${candidate.label} in numbers`} data-testid="candidate-more"
          @click=${() => actions.toggleCandidate(index)}>${icon('chevron', 14)}</button>`
      : nothing}
  </li>`;
}

function places(decision: TraceDecision, second: number | null, room: number, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const ordered = [...decision.candidates].sort((a, b) => Number(b.state === decision.chosen) - Number(a.state === decision.chosen) || b.probability - a.probability);
  const shown = state.allCandidates ? ordered : ordered.slice(0, MOST_SHOWN);
  if (!shown.length) return nothing;
  const scale = scaleOf(shown, room);
  const scored = shown.some((candidate) => Object.keys(candidate.parts).length);
  return html`<section class="block" aria-labelledby="places">
    <div class="block-head"><h3 id="places">Places considered</h3><span class="second">${scored ? 'score above, chance below, sure from 90 %' : 'sure from 90 %'}</span></div>
    ${scored
      ? html`<div class="legend" aria-hidden="true">${decision.parts.map((part, i) => html`<span><svg width="10" height="10"><rect class="part-${partColour(part.key, i)}" width="10" height="10" rx="3"/></svg>${part.label}</span>`)}</div>`
      : nothing}
    <ol class="candidates">${shown.map((candidate, i) => candidateView(candidate, i, { decision, scale, second }, state, actions))}</ol>
    ${ordered.length > MOST_SHOWN
      ? html`<button type="button" class="text-link" data-testid="all-candidates" aria-expanded=${state.allCandidates} @click=${() => actions.allCandidates()}>${state.allCandidates ? 'Show the likeliest only' : `Show all ${ordered.length} places`}</button>` : nothing}
    ${scored ? meaning(decision) : nothing}
  </section>`;
}

/** What score, chance, lead and threshold are, with this turn's numbers. */
function meaning(decision: TraceDecision): TemplateResult {
  const lead = Math.round(decision.margin * 100);
  return html`<details class="more-about" data-testid="meaning"><summary>What these numbers mean</summary>
    <dl class="meaning">
      <div><dt>Score</dt><dd>What speaks for a place, added up; hatched parts speak against it.</dd></div>
      <div><dt>Chance</dt><dd>All scores together, turned into how often such a choice has been right${decision.method === 'asked' ? ', then weighed with what the language model chose' : ''}. Of this place ${percent(decision.probability)}.</dd></div>
      <div><dt>Sure</dt><dd>From ${Math.round(SURE * 100)} % on, the tick on the track. Below, with a close second, the turn is marked unsure and the model sees the second path as well.</dd></div>
      <div><dt>Lead</dt><dd>${lead > 0 ? `${count(lead, 'point')} of chance over the second.` : 'None over the second.'}</dd></div>
      <div><dt>Threshold</dt><dd>A new topic scores ${figure(decision.threshold)}; a branch that scores less doesn’t get the turn.</dd></div>
    </dl></details>`;
}

const METHODS: Record<string, string> = {
  given: 'The place was given, nothing was decided.',
  new_root: 'A new topic.',
  corrected: 'Placed by you.',
  asked: 'Ranking was unsure, so the language model was asked.',
};

const byWhom = (model: string | null): string => (model === null ? '' : model === 'offline' ? 'offline ' : `by ${model} `);

function facts(trace: Trace): string[] {
  const { timings, decision, tokens } = trace;
  const places = decision?.candidates.length ?? 0;
  const list: (string | false)[] = [
    typeof timings.localize_ms === 'number' && `Placed in ${duration(timings.localize_ms)}`,
    typeof timings.ask_ms === 'number' && `Model asked for the place, ${duration(timings.ask_ms)}`,
    typeof timings.first_delta_ms === 'number' && `First word after ${duration(timings.first_delta_ms)}`,
    typeof timings.answer_ms === 'number' && `Answered ${byWhom(trace.answered_by)}in ${duration(timings.answer_ms)}`,
    decision !== null && places > 1 && decision.margin > 0 && `Lead over the second ${count(Math.round(decision.margin * 100), 'point')}`,
    tokens.cost !== null && tokens.cost > 0 && `Cost ${Number(tokens.cost.toPrecision(2))}`,
  ];
  return list.filter((words): words is string => words !== false);
}

/** "Moved by ines on Tue 10 Mar. It went to Kitchen, Quotes." */
const corrected = (decision: TraceDecision, zone: string): TemplateResult => html`<p class="meta" data-testid="corrected">Moved by ${decision.corrected_by}${
  decision.corrected_at ? ` ${longTime(decision.corrected_at, zone)}` : ''}. ${decision.corrected_from ? html`It had gone to “<bdi>${decision.corrected_from.label}</bdi>”.` : 'It had begun a topic.'}</p>`;

export function traceView(trace: Trace, room: number, state: AppState, actions: Actions): TemplateResult {
  const zone = state.forest?.time_zone ?? 'UTC';
  const { decision } = trace;
  const own = [...state.states.values()].find((row) => row.turn === trace.turn);
  const why = decision ? decision.why || METHODS[decision.method] || '' : 'Not placed yet.';
  return html`<div class="meta" data-testid="trace" data-turn=${trace.turn}>${trace.position === null ? 'This turn' : `Turn ${trace.position}`}, ${longTime(trace.time, zone)}</div>
    <h2 class="turn-title" dir="auto">${trace.text}</h2>
    ${decision?.unsure
      ? html`<div class="note sun" data-testid="unsure">${icon('warn', 18)}<p><b>Not sure about this one.</b> ${why}</p></div>`
      : html`<p class="why" data-testid="why-sentence">${why}</p>`}
    ${decision?.corrected_by ? corrected(decision, zone) : nothing}
    ${trace.tokens.notes.map((note) => html`<div class="note sun" data-testid="note-${note.code}">${icon('warn', 18)}<p>${note.words}</p></div>`)}
    <div class="facts-line">${facts(trace).map((words) => html`<span>${words}</span>`)}</div>
    ${compareView(trace.turn, room, state, actions)}
    ${decision ? contrastView(decision) : nothing}
    ${decision ? places(decision, own?.second ?? null, room, state, actions) : nothing}
    ${trace.context ? contextView(trace.context, state, actions) : nothing}
    ${Object.keys(trace.timings).length ? costsView(trace) : nothing}`;
}
