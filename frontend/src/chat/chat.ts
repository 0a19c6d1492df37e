/** The chat panel: turns from top to bottom, and under them the composer. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { repeat } from 'lit-html/directives/repeat.js';
import { unsafeHTML } from 'lit-html/directives/unsafe-html.js';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { leafOf } from '../shell/leaf';
import { count, shortTime } from '../shell/time';
import type { AppState } from '../state';
import type { Chip, Item } from '../types';
import { utf8Bytes } from './bytes';
import { editor } from './editor';
import { headOf } from './long';
import { blocks, settle, withoutTableHead } from './markdown';
import { BROKEN, editsOf, OPEN, type ChatTurn } from './turns';

const MOST_LEARNED = 3;
const MOST_CHIPS = 3;
/** Characters of a crumb that fit beside its time. */
const ROOMY = 34;

export const prose = (text: string, end: 'whole' | 'open' | 'cut' = 'whole'): TemplateResult => html`<div class="md ${end === 'open' ? 'live' : ''}" dir="auto">${
  blocks(end === 'whole' ? text : end === 'cut' ? settle(text) : withoutTableHead(settle(text)), end === 'open').map((block) => html`${unsafeHTML(block)}`)}</div>`;

/** Where the turn was answered: tree, then the last forks, then the parent. */
function crumb(turn: ChatTurn, state: AppState, actions: Actions): TemplateResult {
  const zone = state.forest?.time_zone ?? 'UTC';
  const own = turn.state === null ? undefined : state.states.get(turn.state);
  const root = own?.root ?? turn.decision?.root ?? turn.crumb[0]?.state ?? null;
  const tree = root === null ? undefined : state.trees.get(root);
  let parts = turn.crumb.length
    ? turn.crumb
    : turn.path.flatMap((id) => (state.states.has(id) ? [{ state: id, label: state.states.get(id)!.label }] : [])).filter((_, i, all) => i === 0 || i >= all.length - 2);
  // Long names say more whole than three names cut short.
  if (parts.length > 2 && parts.reduce((sum, part) => sum + part.label.length, 0) > ROOMY) parts = [parts[0]!, parts.at(-1)!];
  if (!parts.length && turn.state !== null) parts = [{ state: turn.state, label: tree?.topic ?? own?.label ?? 'New topic' }];
  const target = parts.at(-1)?.state ?? null;
  return html`<div class="crumb" data-testid="crumb" @pointerenter=${() => actions.preview(turn.state ?? target)} @pointerleave=${() => actions.preview(null)}>
    ${leafOf(tree)}
    <span class="crumb-path">${parts.length
      ? parts.map((part, index) => html`${index ? icon('right', 12) : nothing}<button type="button" class="crumb-part ${index ? '' : 'tree'}"
          @focus=${() => actions.preview(part.state)} @blur=${() => actions.preview(null)}
          @click=${() => actions.select(part.state, { center: true })}>${index === 0 ? tree?.topic || part.label : part.label}</button>`)
      : html`<span class="crumb-part tree">New topic</span>`}</span>
    ${turn.decision?.method === 'asked' ? html`<span class="tag" data-testid="asked">model asked</span>` : nothing}
    ${turn.decision?.unsure ? html`<span class="tag sun">unsure</span>` : nothing}
    ${turn.id !== null
      ? html`<button type="button" class="crumb-time" aria-label=${`Why this place? Turn of ${shortTime(turn.sent_at, zone)}`}
          @click=${() => actions.inspectTurn(turn.id as number)}>${shortTime(turn.sent_at, zone)}</button>`
      : html`<span class="crumb-time">${shortTime(turn.sent_at, zone)}</span>`}
  </div>`;
}

const chipOf = (chip: Chip, state: AppState, actions: Actions): TemplateResult => {
  const row = chip.state === null ? undefined : state.states.get(chip.state);
  return html`<button type="button" class="chip" data-testid="chip" data-quote=${chip.quote}
    @click=${() => actions.inspectItem(chip.kind, chip.id, chip.state)}>
    ${leafOf(row ? state.trees.get(row.root) : undefined)}<span dir="auto">${chip.label}</span></button>`;
};

const learnedChip = (item: Item, state: AppState, actions: Actions): TemplateResult => {
  const row = state.states.get(item.state);
  return html`<button type="button" class="chip rise" data-testid="chip-learned" data-quote=${item.evidence}
    @click=${() => actions.inspectItem(item.kind, item.id, item.state)}>
    ${leafOf(row ? state.trees.get(row.root) : undefined)}<span dir="auto">${item.text}</span></button>`;
};

function chips(turn: ChatTurn, state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const row = turn.state === null ? undefined : state.states.get(turn.state);
  const remembering = turn.status === 'answered' && turn.refined_at === null;
  const learned = turn.learned.filter((item) => !turn.chips.some((chip) => chip.kind === item.kind && chip.id === item.id));
  const shown = learned.slice(0, MOST_LEARNED);
  const rest = learned.length ? learned.length - shown.length : row?.facts ?? 0;
  if (!turn.chips.length && !remembering && !learned.length && !rest) return nothing;
  const all = turn.id === null || state.openChips.has(turn.id) || turn.chips.length <= MOST_CHIPS + 1;
  return html`<div class="chips">
    ${(all ? turn.chips : turn.chips.slice(0, MOST_CHIPS)).map((chip) => chipOf(chip, state, actions))}
    ${all ? nothing : html`<button type="button" class="chip quiet" data-testid="chips-more" aria-label=${`${turn.chips.length - MOST_CHIPS} more pieces of evidence`} @click=${() => actions.showChips(turn.id as number)}>+${turn.chips.length - MOST_CHIPS}</button>`}
    ${shown.map((item) => learnedChip(item, state, actions))}
    ${rest > 0 && turn.state !== null
      ? html`<button type="button" class="chip quiet" data-testid="chip-kept" @click=${() => { actions.select(turn.state); actions.tab('evidence'); }}>${
          learned.length ? `+${rest}` : `${count(rest, 'fact')} kept`}</button>`
      : nothing}
    ${remembering && !turn.error ? html`<span class="chip sun" data-testid="remembering">Remembering…</span>` : nothing}
  </div>
  ${remembering && turn.error ? html`<p class="note sun" role="note" data-testid="not-remembered">${icon('info', 18)}<span><b>Not in memory yet.</b> ${turn.error.message} ${turn.error.action ?? ''}</span></p>` : nothing}`;
}

const BROKEN_WORDS: Record<string, string> = {
  failed: 'No answer came.',
  interrupted: 'The answer was cut short.',
  cancelled: 'You stopped this answer.',
};

/** What happened and what can be done about it. A kept part becomes a state; a dropped turn is gone. */
function broken(turn: ChatTurn, actions: Actions): TemplateResult {
  const calm = turn.status === 'cancelled';
  return html`<div class="note ${calm ? 'plain' : 'clay'}" role="group" aria-label="What happened" data-testid="turn-trouble">
    ${calm ? nothing : icon('warn', 18)}
    <div><p><b>${turn.error?.message || BROKEN_WORDS[turn.status]}</b> ${turn.error?.action ?? ''}</p>
      <div class="note-actions">
        <button type="button" class="button small" data-testid="retry" @click=${() => actions.retry(turn)}>${icon('retry', 15)}Try again</button>
        <button type="button" class="button small" data-testid="rewrite" @click=${() => actions.rewrite(turn)}>${icon('edit', 15)}Edit</button>
        ${turn.id !== null && turn.partial ? html`<button type="button" class="button small" data-testid="keep" @click=${() => actions.keep(turn.id as number)}>Keep the part</button>` : nothing}
        <button type="button" class="button small" data-testid="drop" @click=${() => actions.drop(turn)}>Drop</button>
      </div></div></div>`;
}

function waiting(turn: ChatTurn, state: AppState): string {
  if (turn.id === null) return state.connection === 'live' ? 'Sending…' : 'Not sent yet. It goes out as soon as the connection is back.';
  if (turn.status === 'queued') return turn.ahead > 1 ? `Waits for ${turn.ahead} turns before it` : 'Waits for the turn before it';
  return 'Finding its place…';
}

function answer(turn: ChatTurn, state: AppState, actions: Actions): TemplateResult {
  if (turn.status === 'received' || turn.status === 'queued') {
    return html`<p class="waiting" data-testid="waiting">${waiting(turn, state)}${turn.status === 'queued' && turn.id !== null
      ? html` <button type="button" class="text-link" data-testid="take-back" @click=${() => actions.cancel(turn.id as number)}>Take it back</button>` : nothing}</p>`;
  }
  const open = OPEN.has(turn.status);
  const text = open || BROKEN.has(turn.status) ? (turn.lit ? turn.partial : '') : turn.answer;
  return html`${turn.decision || turn.crumb.length || turn.state !== null ? crumb(turn, state, actions) : nothing}
    ${text || open ? html`<div class="answer" data-testid="answer" aria-busy=${open}>${prose(text, open ? 'open' : BROKEN.has(turn.status) ? 'cut' : 'whole')}${open && !text ? html`<span class="caret"></span>` : nothing}</div>` : nothing}
    ${BROKEN.has(turn.status) ? broken(turn, actions) : nothing}
    ${open || BROKEN.has(turn.status) ? nothing : chips(turn, state, actions)}
    ${!open && turn.answer
      ? html`<div class="turn-tools">
          <button type="button" class="tool" data-testid="copy" @click=${() => actions.copy(turn.answer, 'The answer')}>${icon('copy', 14)}Copy</button>
          ${turn.text ? html`<button type="button" class="tool" data-testid="ask-again" @click=${() => actions.askAgain(turn)}>${icon('retry', 14)}Ask again</button>` : nothing}
          <button type="button" class="tool" data-testid="why" @click=${() => actions.inspectTurn(turn.id as number)}>${icon('info', 14)}Why here?</button></div>`
      : nothing}`;
}

const inShort = (text: string): string => text.trim().split('\n', 1)[0]!.slice(0, 80);

const kin = (words: string, label: string, testid: string, to: () => void): TemplateResult => html`<button type="button" class="kin" data-testid=${testid} @click=${to}>
  ${icon('fork', 14)}<span>${words}${label ? html` “<bdi>${label}</bdi>”` : nothing}</span></button>`;

/** Under a message: what it was edited from, what was made of it since, and the way to edit it. */
function under(turn: ChatTurn, later: readonly ChatTurn[], actions: Actions): TemplateResult | typeof nothing {
  const from = turn.edited_from;
  const last = later.at(-1);
  const again = last?.edited_from?.again ?? false;
  const words = later.length > 1 ? `Edited ${later.length} times, last:` : again ? 'Asked again later' : 'Edited later:';
  if (!from && !last && (turn.state === null || !turn.text)) return nothing;
  return html`<div class="under ${from || last ? 'has-kin' : ''}">
    ${turn.state !== null && turn.text
      ? html`<button type="button" class="tool" data-testid="edit" aria-label="Edit this message" @click=${() => actions.edit(turn)}>${icon('edit', 14)}Edit</button>` : nothing}
    ${from || last ? html`<div class="kins">
    ${from ? kin(from.again ? 'Asked again. See the first answer' : 'Edited from', from.again ? '' : from.label, 'edited-from', () => actions.reveal(from.turn, from.state)) : nothing}
    ${last?.id ? kin(words, again && later.length === 1 ? '' : inShort(last.text), 'edited-later', () => actions.reveal(last.id as number, last.state)) : nothing}</div>` : nothing}
  </div>`;
}

function bubble(turn: ChatTurn, state: AppState, actions: Actions): TemplateResult {
  const head = headOf(turn.text);
  if (head === null || turn.id === null) return html`<div class="bubble" dir="auto" data-testid="bubble">${turn.text}</div>`;
  const whole = state.openTexts.has(turn.id);
  return html`<div class="bubble" data-testid="bubble"><div class="bubble-text ${whole ? '' : 'cut'}" dir="auto">${whole ? turn.text : `${head} …`}</div>
    <button type="button" class="text-link" data-testid="show-all" aria-expanded=${whole} @click=${() => actions.showText(turn.id as number)}>${
      whole ? 'Show less' : `Show all (${Math.max(1, Math.round(utf8Bytes(turn.text) / 1024))} KB)`}</button></div>`;
}

function said(turn: ChatTurn, later: readonly ChatTurn[], state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (state.editing !== null && state.editing.turn === turn.id) return editor(turn, state.editing, state, actions);
  return html`${turn.text ? bubble(turn, state, actions) : nothing}${under(turn, later, actions)}`;
}

const article = (turn: ChatTurn, later: readonly ChatTurn[], state: AppState, actions: Actions): TemplateResult => html`<article class="turn" tabindex="-1"
    data-testid="turn" data-turn=${turn.id ?? ''} data-state=${turn.state ?? ''} data-status=${turn.status}>
  <h2 class="hidden">Turn of ${shortTime(turn.sent_at, state.forest?.time_zone ?? 'UTC')}</h2>
  ${said(turn, later, state, actions)}
  ${answer(turn, state, actions)}
</article>`;

const NONE: readonly ChatTurn[] = [];

export const turnList = (state: AppState, actions: Actions): TemplateResult => {
  const edits = editsOf(state.turns);
  return html`
  ${state.earlier !== null
    ? html`<button type="button" class="button small earlier" ?disabled=${state.loadingEarlier} @click=${() => actions.earlier()}>${
        state.loadingEarlier ? 'Loading…' : 'Earlier turns'}</button>`
    : nothing}
  ${repeat(state.turns, (turn) => turn.client_id || turn.id, (turn) => {
    const later = (turn.id !== null && edits.get(turn.id)) || NONE;
    const last = later.at(-1);
    return guard([
      turn, treeMark(turn, state), state.forest?.time_zone, turn.id === null ? state.connection : '', state.coloured,
      state.editing?.turn === turn.id ? state.editing : null, turn.id !== null && state.openTexts.has(turn.id), `${later.length}|${last?.id}|${last?.state}`,
    ], () => article(turn, later, state, actions));
  })}`;
};

/** What an article reads of the drawing: its own row and tree, and the trees of its chips. */
function treeMark(turn: ChatTurn, state: AppState): string {
  const row = turn.state === null ? undefined : state.states.get(turn.state);
  const root = row?.root ?? turn.decision?.root;
  const tree = root === null || root === undefined ? undefined : state.trees.get(root);
  return `${tree?.order}|${tree?.topic}|${row?.facts}|${state.states.size > 0}|${turn.id !== null && state.openChips.has(turn.id)}`;
}
