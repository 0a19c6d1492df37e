/** The dialogs of correcting: a move before it is done, later turns looked at again, a value in other words. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { diffView } from '../inspector/diff-view';
import { frame, shut } from '../shell/frame';
import { leafOf } from '../shell/leaf';
import { count, percent } from '../shell/time';
import type { AppState } from '../state';
import type { MovePreview, Proposal, Trouble } from '../types';
import { branchOf, isStalled, lookedAt, proposalsOf, type Moving, type Replaying } from './correcting';
import { consequences, nothingToMove } from './words';

const MOST_USES = 4;

const trouble = ({ message, action }: Trouble): TemplateResult =>
  html`<div class="note clay" role="alert" data-testid="trouble">${icon('warn', 18)}<p><b>${message}</b> ${action ?? ''}</p></div>`;

/** "Kitchen, Quotes": a place by its tree and its turn. */
function place(id: number | null, state: AppState): TemplateResult {
  const row = id === null ? undefined : state.states.get(id);
  if (!row) return html`<span class="place-leaf">${icon('plus', 15)}</span><span><b>A topic of its own</b></span>`;
  const tree = state.trees.get(row.root);
  return html`<span class="place-leaf">${leafOf(tree, 15)}</span><span dir="auto"><b>${row.label}</b>${tree && tree.topic !== row.label ? html` <span class="second">${tree.topic}</span>` : nothing}</span>`;
}

/* --- A move --- */

function uses(preview: MovePreview, state: AppState): TemplateResult | typeof nothing {
  const list = preview.used_by;
  if (!preview.counts.used_by) return nothing;
  return html`<section class="ask-part"><h3>${count(preview.counts.used_by, 'answer')} used it, and ${preview.counts.used_by === 1 ? 'stays as it is' : 'stay as they are'}</h3>
    <ul class="ask-list">${list.slice(0, MOST_USES).map((use) => html`<li><span dir="auto">${use.label}</span><span class="second">turn ${state.states.get(use.state)?.position ?? ''}</span></li>`)}</ul>
    ${preview.counts.used_by > MOST_USES ? html`<p class="second">and ${(preview.counts.used_by - MOST_USES).toLocaleString('en')} more</p>` : nothing}</section>`;
}

function movingBody(moving: Moving, state: AppState, actions: Actions): TemplateResult {
  const row = state.states.get(moving.state);
  const own = branchOf(state.states, moving.state).size;
  const { preview } = moving;
  const now = row?.parent ?? null;
  return html`<form class="ask" @submit=${(event: Event) => { event.preventDefault(); actions.correct.move(); }}>
    <dl class="move-way">
      <div><dt>Turn</dt><dd>${place(moving.state, state)}</dd></div>
      <div><dt>From under</dt><dd>${now === null ? html`<span class="place-leaf">${icon('plus', 15)}</span><span>nothing: it begins its topic</span>` : place(now, state)}</dd></div>
      <div class="to"><dt>To under</dt><dd data-testid="move-to">${place(moving.parent, state)}</dd></div>
    </dl>
    ${preview.status === 'here'
      ? html`<ul class="ask-points" data-testid="move-preview">${consequences(preview.value, own).map((words) => html`<li>${words}</li>`)}</ul>${uses(preview.value, state)}`
      : preview.status === 'failed' ? trouble(preview.trouble) : html`<p class="second ask-wait">Looking at what changes…</p>`}
    ${moving.trouble ? trouble(moving.trouble) : nothing}
    <div class="dialog-actions"><button type="button" class="button aside" data-testid="move-elsewhere" @click=${(event: Event) => { shut(event); actions.correct.choosePlace(moving.state); }}>Choose another place</button>
      <button type="button" class="button" @click=${shut}>Cancel</button>
      <button type="submit" class="button primary" data-testid="move-do" ?disabled=${moving.doing || preview.status !== 'here'}>${moving.doing ? 'Moving…' : 'Move'}</button></div>
  </form>`;
}

export const moveDialog = (state: AppState, actions: Actions): TemplateResult | typeof nothing => {
  const { moving } = state.correcting;
  return moving ? frame(moving.parent === null ? 'Make it a topic of its own' : 'Move this turn', movingBody(moving, state, actions), actions) : nothing;
};

/* --- Later turns, again --- */

function proposalView(one: Proposal, chosen: boolean, state: AppState, actions: Actions): TemplateResult {
  const tree = (id: number | null) => leafOf(id === null ? undefined : state.trees.get(state.states.get(id)?.root ?? -1), 13);
  return html`<li><label class="ask-choice"><input type="checkbox" .checked=${chosen} data-testid="proposal" data-state=${one.state}
      @change=${(event: Event) => actions.correct.tick(one.state, (event.currentTarget as HTMLInputElement).checked)}>
    <span class="proposal"><b dir="auto">${one.label}</b>
      <span class="proposal-way">${tree(one.from)}<span dir="auto">${one.from_label || 'A topic of its own'}</span>${icon('right', 12)}<span class="hidden">to</span>${tree(one.to)}<span dir="auto">${one.to_label || 'A topic of its own'}</span></span></span>
    <span class="proposal-chance">${percent(one.probability)}${one.unsure ? html`<span class="tag sun">unsure</span>` : nothing}</span></label></li>`;
}

function replayBody(replaying: Replaying, state: AppState, actions: Actions): TemplateResult {
  const { job } = replaying;
  const close = (label: string) => html`<div class="dialog-actions"><button type="button" class="button" data-testid="replay-close" @click=${shut}>${label}</button></div>`;
  if (replaying.trouble && !job) return html`<div class="ask">${trouble(replaying.trouble)}${close('Close')}</div>`;
  if (!job || job.status === 'waiting' || job.status === 'running') {
    const { done = 0, total = 0 } = job ?? {};
    return html`<div class="ask" data-testid="replay-working"><p>Each later turn looks for its place again, as the forest stands now. Nothing moves by this.</p>
      <progress class="wide" aria-label="Looking at later turns" max=${total || 1} value=${total ? done : 0}></progress>
      <p class="second">${total ? `${done.toLocaleString('en')} of ${count(total, 'turn')}` : 'Getting ready'}</p>
      ${isStalled(replaying, Date.now()) ? html`<div class="note sun" role="status" data-testid="replay-stalled">${icon('info', 18)}<p><b>Nothing is heard of it for a while.</b> Its worker may be gone. Another takes it up by itself, from the start; you can close this, or stop it.</p></div>` : nothing}
      <div class="dialog-actions"><button type="button" class="button" data-testid="replay-stop" @click=${() => actions.correct.stopLooking()}>Stop</button></div></div>`;
  }
  if (job.status !== 'done') return html`<div class="ask">${trouble(job.error ?? { code: 'stopped', message: 'It was stopped before the end.', action: 'Nothing has moved.' })}${close('Close')}</div>`;
  const proposals = proposalsOf(job);
  const looked = lookedAt(job);
  if (!proposals.length) {
    return html`<div class="ask" data-testid="replay-none"><p class="ask-big">${icon('check', 18)}${nothingToMove(looked)}</p>${close('Close')}</div>`;
  }
  const all = proposals.every((one) => replaying.chosen.has(one.state));
  return html`<form class="ask" data-testid="replay-done" @submit=${(event: Event) => { event.preventDefault(); actions.correct.applyTicked(); }}>
    <div class="ask-head"><p>${count(proposals.length, 'turn')} of ${looked.toLocaleString('en')} would go elsewhere now.</p>
      <button type="button" class="text-link" @click=${() => actions.correct.tickAll(!all)}>${all ? 'Untick all' : 'Tick all'}</button></div>
    <ul class="proposals">${proposals.map((one) => proposalView(one, replaying.chosen.has(one.state), state, actions))}</ul>
    ${replaying.trouble ? trouble(replaying.trouble) : nothing}
    <div class="dialog-actions"><button type="button" class="button" @click=${shut}>Leave them</button>
      <button type="submit" class="button primary" data-testid="replay-apply" ?disabled=${!replaying.chosen.size || replaying.doing}>${replaying.chosen.size ? `Move ${count(replaying.chosen.size, 'turn')}` : 'Move'}</button></div>
  </form>`;
}

export const replayDialog = (state: AppState, actions: Actions): TemplateResult | typeof nothing => {
  const { replaying } = state.correcting;
  return replaying ? frame('Look again at later turns', replayBody(replaying, state, actions), actions) : nothing;
};

/* --- Other words --- */

const begin = (element: Element | undefined) => {
  const field = element as HTMLTextAreaElement | undefined;
  if (field) queueMicrotask(() => field.isConnected && field.setSelectionRange(field.value.length, field.value.length));
};

export function rewordDialog(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const { rewording } = state.correcting;
  if (!rewording) return nothing;
  const { item, text } = rewording;
  const fresh = text.trim();
  const same = fresh === item.text || !fresh;
  return frame('Change the wording', html`<form class="ask" @submit=${(event: Event) => { event.preventDefault(); actions.correct.keepWording(); }}>
    <label class="second" for="wording">It says</label>
    <textarea id="wording" class="ask-field" rows="3" dir="auto" maxlength="2000" autofocus data-testid="wording" .value=${text} ${ref(begin)}
      @input=${(event: Event) => actions.correct.wording((event.currentTarget as HTMLTextAreaElement).value)}></textarea>
    <div class="ask-preview" aria-live="polite" data-testid="wording-diff">${same ? html`<p class="second">What changes is shown here.</p>` : html`<p dir="auto">${diffView(item.text, fresh)}</p>`}</div>
    <p class="second">The old wording stays in the history, and can be restored.</p>
    ${rewording.trouble ? trouble(rewording.trouble) : nothing}
    <div class="dialog-actions"><button type="button" class="button" @click=${shut}>Cancel</button>
      <button type="submit" class="button primary" data-testid="wording-keep" ?disabled=${same || rewording.doing}>Keep it</button></div></form>`, actions);
}
