/** The dialog of deleting for good: what was asked for, what goes with it, what stays and why. Nothing goes before its last button. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { branchOf } from '../correcting/correcting';
import { frame, shut } from '../shell/frame';
import { leafOf } from '../shell/leaf';
import { count } from '../shell/time';
import type { AppState } from '../state';
import type { Forgotten, Match, Trouble } from '../types';
import { keyOf, mayDelete, toBeTyped, type Asked, type Forgetting } from './forgetting';
import { bare, countsWords, KIND_WORDS, rebuiltWords, TITLES } from './words';

const MOST = 6;

const trouble = ({ message, action }: Trouble): TemplateResult =>
  html`<div class="note clay" role="alert" data-testid="trouble">${icon('warn', 18)}<p><b>${message}</b> ${action ?? ''}</p></div>`;

const turnOf = (id: number | null, state: AppState): string => {
  const row = id === null ? undefined : state.states.get(id);
  return row ? `turn ${row.position}` : '';
};

/** The first of many, and how many there are. */
function part<T>(title: string, list: readonly T[], whole: number, line: (one: T) => TemplateResult, testid: string): TemplateResult | typeof nothing {
  if (!list.length) return nothing;
  const shown = list.slice(0, MOST);
  const more = Math.max(whole, list.length) - shown.length;
  return html`<section class="ask-part" data-testid=${testid}><h3>${title}</h3><ul class="ask-list">${shown.map(line)}</ul>${more > 0 ? html`<p class="second">and ${more.toLocaleString('en')} more</p>` : nothing}</section>`;
}

function what(preview: Forgotten, forgetting: Forgetting, state: AppState, actions: Actions): TemplateResult {
  const { counts, rebuilt, stays, restored, used_by, quoted_by } = preview;
  const quoted = counts['quoted_by'] ?? quoted_by.length;
  const goes = countsWords(counts);
  const anew = rebuiltWords(rebuilt);
  return html`<div class="ask-what" data-testid="forget-preview">
    ${goes ? html`<p><b>Goes:</b> ${goes}.</p>` : nothing}
    ${anew ? html`<p><b>Is told anew, without it:</b> ${anew}.</p>` : nothing}
    ${part('Stays', stays, stays.length, (one) => html`<li class="stays"><span dir="auto">${one.text}</span><span class="second">${one.because}</span>${one.kind === 'state' && forgetting.target?.kind !== 'state'
      ? html`<button type="button" class="text-link" data-testid="forget-turn" @click=${() => actions.forget.open({ kind: 'state', id: one.id, text: one.text })}>Delete that turn instead</button>` : nothing}</li>`, 'stays')}
    ${part('Holds again', restored, restored.length, (one) => html`<li><span dir="auto">${one.text}</span></li>`, 'restored')}
    ${part(`${count(counts['used_by'] ?? used_by.length, 'answer')} used it`, used_by, counts['used_by'] ?? 0, (use) => html`<li><span dir="auto">${use.label}</span><span class="second">${turnOf(use.state, state)}</span></li>`, 'used-by')}
    ${part(`${count(quoted, 'later answer')} ${quoted === 1 ? 'quotes' : 'quote'} it`, quoted_by, quoted, (use) => html`<li class="stays"><span dir="auto"><q>${bare(use.quote)}</q></span><span class="second">${turnOf(use.state, state)}</span></li>`, 'quoted-by')}
    ${quoted > 0 || forgetting.redact
      ? html`<label class="ask-choice"><input type="checkbox" .checked=${forgetting.redact} data-testid="redact" @change=${(event: Event) => actions.forget.redact((event.currentTarget as HTMLInputElement).checked)}>
          <span><b>Take the quotes out of those answers too</b><small>Else they stay as they were said.</small></span></label>`
      : nothing}
  </div>`;
}

function children(forgetting: Forgetting, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const { target } = forgetting;
  if (target?.kind !== 'state') return nothing;
  const after = branchOf(state.states, target.id).size - 1;
  if (!after) return nothing;
  const parent = state.states.get(state.states.get(target.id)?.parent ?? -1);
  const choice = (mode: Forgetting['mode'], title: string, more: string) => html`<label class="ask-choice"><input type="radio" name="mode" .checked=${forgetting.mode === mode} data-testid=${mode} @change=${() => actions.forget.mode(mode)}>
    <span><b>${title}</b><small>${more}</small></span></label>`;
  return html`<fieldset class="ask-choices"><legend>${count(after, 'turn')} ${after === 1 ? 'follows' : 'follow'} it</legend>
    ${choice('children_to_parent', after === 1 ? 'Keep it' : 'Keep them', parent ? `They go on from “${parent.label.replace(/\.$/, '')}”.` : 'They begin topics of their own.')}
    ${choice('with_children', after === 1 ? 'Delete it too' : 'Delete them too', 'The whole branch goes.')}</fieldset>`;
}

function body(forgetting: Forgetting, state: AppState, actions: Actions): TemplateResult {
  const { target, preview, asked } = forgetting;
  const word = toBeTyped(target);
  return html`<form class="ask" @submit=${(event: Event) => { event.preventDefault(); actions.forget.done(); }}>
    <blockquote class="ask-quote" dir="auto">${target!.text}</blockquote>
    ${children(forgetting, state, actions)}
    ${preview.status === 'here' ? what(preview.value, forgetting, state, actions) : preview.status === 'failed' ? trouble(preview.trouble) : html`<p class="second ask-wait">Looking at what goes with it…</p>`}
    ${word === null
      ? nothing
      : html`<div><label class="second" for="typed">To confirm, write <b>${word}</b></label>
          <input id="typed" class="ask-field" type="text" autocomplete="off" spellcheck="false" data-testid="forget-typed" .value=${forgetting.typed} @input=${(event: Event) => actions.forget.typed((event.currentTarget as HTMLInputElement).value)}></div>`}
    <p class="ask-final">${icon('warn', 16)}This can’t be undone.</p>
    ${forgetting.trouble ? trouble(forgetting.trouble) : nothing}
    <div class="dialog-actions">${asked && asked.matches.length > 1 ? html`<button type="button" class="button aside" @click=${() => actions.forget.back()}>${icon('left', 15)}Back</button>` : nothing}
      <button type="button" class="button" @click=${shut}>Keep it</button>
      <button type="submit" class="button danger" data-testid="forget-do" ?disabled=${!mayDelete(forgetting)}>${forgetting.doing ? 'Deleting…' : 'Delete'}</button></div>
  </form>`;
}

/* --- “Forget that …” --- */

function matchView(match: Match, state: AppState, actions: Actions): TemplateResult {
  const row = state.states.get(match.state);
  return html`<li><button type="button" class="fact" data-testid="match" data-kind=${match.kind} @click=${() => actions.forget.choose(match)}>${leafOf(row ? state.trees.get(row.root) : undefined)}
    <span class="fact-body"><span class="match-text" dir="auto">${bare(match.text)}</span><span class="fact-meta"><span>${KIND_WORDS[match.kind]}</span>${row ? html`<span>turn ${row.position}</span>` : nothing}</span></span>
    <span class="match-go">${icon('right', 15)}</span></button></li>`;
}

function choosing(asked: Asked, state: AppState, actions: Actions): TemplateResult {
  const left = asked.matches.filter((match) => !asked.gone.has(keyOf(match)));
  return html`<div class="ask" data-testid="forget-matches">
    ${left.length
      ? html`<p>${asked.gone.size ? 'Deleted. This fits too:' : 'Which of these? You see what goes with it before anything is deleted.'}</p><ul class="fact-list">${left.map((match) => matchView(match, state, actions))}</ul>`
      : html`<p>Nothing like it is remembered, so there is nothing to delete.</p>`}
    <div class="dialog-actions">${asked.gone.size ? nothing : html`<button type="button" class="button aside" data-testid="forget-say" @click=${() => actions.forget.say()}>Send it as a message</button>`}
      <button type="button" class="button ${left.length ? '' : 'primary'}" @click=${shut}>${asked.gone.size ? 'Done' : 'Close'}</button></div></div>`;
}

export function forgetDialog(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const { forgetting } = state;
  if (!forgetting) return nothing;
  if (!forgetting.target) return forgetting.asked ? frame(`Forget “${shorter(forgetting.asked.what)}”`, choosing(forgetting.asked, state, actions), actions) : nothing;
  return frame(TITLES[forgetting.target.kind], body(forgetting, state, actions), actions);
}

const LONGEST = 60;
const shorter = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text);
