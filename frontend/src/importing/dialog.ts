/** The import dialog: choose a file and how it comes in, see it sent and taken in, read what came of it. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ifDefined } from 'lit-html/directives/if-defined.js';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { frame, shut } from '../shell/frame';
import { isFirstVisit, type AppState } from '../state';
import type { Job, Trouble } from '../types';
import { isUnderWay, stepOf, type Importing } from './importing';
import { details, headline, jobTrouble, keptWords, lineWords, percentOf, remarks, sizeWords, workingWords, type Remark } from './words';

const TAKEN = '.json,.jsonl,.ndjson,.zip,.txt,application/json,application/zip';
const LINES_KEPT = 200;

const WHERE: [string, string][] = [
  ['ChatGPT', 'Settings, Data controls, Export data. A link to a ZIP comes by mail.'],
  ['Claude', 'Settings, Privacy, Export data. A link to a ZIP comes by mail.'],
  ['Open WebUI', 'Settings, Chats, Export: a JSON file.'],
  ['LibreChat', 'The menu of a conversation, Export, as JSON; all branches ticked.'],
  ['ArborWeb', 'The menu with the forest’s name, Export as JSON. Comes back into an empty forest as it was.'],
  ['JSON lines', 'A turn on each line: {"user": …, "assistant": …, "time": …}'],
];

/** A part that replaces another takes the focus, so that the keyboard and a screen reader go on from there. */
const takeFocus = (element: Element | undefined) => {
  if (element) queueMicrotask(() => (element as HTMLElement).isConnected && (element as HTMLElement).focus());
};

export function bar(label: string, done: number, total: number): TemplateResult {
  return html`<progress class="wide" aria-label=${label} max=${total || 1} value=${ifDefined(total ? done : undefined)} aria-valuetext=${total ? `${percentOf(done, total)} %` : 'Not known yet'}></progress>`;
}

const trouble = ({ message, action }: Trouble): TemplateResult =>
  html`<div class="note clay" role="alert" data-testid="import-trouble">${icon('warn', 18)}<p><b>${message}</b> ${action ?? ''}</p></div>`;

/* --- Choosing --- */

function fileField({ picked, over }: Importing, limit: number, actions: Actions): TemplateResult {
  return html`<div class="drop-zone ${picked ? 'picked' : ''} ${over ? 'over' : ''}">
    ${picked
      ? html`<span class="file-mark">${icon('file', 22)}</span><div class="file-text"><p class="file-name" data-testid="import-file-name">${picked.file.name}</p>
          <p class="second">${sizeWords(picked.file.size)}${picked.forest === null ? '' : ', an export of ArborWeb'}</p></div>`
      : html`<span class="file-mark">${icon('up', 24)}</span><p class="drop-hint">Drop a file here, or choose one.</p>
          <p class="second">JSON, JSON lines or a ZIP archive, at most ${sizeWords(limit)}</p>`}
    <input id="import-file" class="hidden" type="file" accept=${TAKEN} autofocus data-testid="import-file"
      @change=${(event: Event) => {
        const field = event.currentTarget as HTMLInputElement;
        actions.importing.pick([...(field.files ?? [])]);
        field.value = '';
      }}>
    <label for="import-file" class="button small">${picked ? 'Choose another' : 'Choose a file'}</label>
  </div>`;
}

function choice(name: string, value: string, now: string, title: string, what: string, choose: () => void): TemplateResult {
  return html`<label class="import-choice"><input type="radio" name=${name} value=${value} .checked=${value === now} data-testid=${`import-${value}`} @change=${choose}>
    <span><b>${title}</b>${what ? html`<small>${what}</small>` : nothing}</span></label>`;
}

function places({ how }: Importing, actions: Actions): TemplateResult {
  return html`<fieldset><legend>Where the turns go</legend>
    ${choice('how', 'branches', how, 'Keep its branches', 'Each conversation grows a tree, edits and second answers its branches.', () => actions.importing.how('branches'))}
    ${choice('how', 'own', how, 'Let every turn find its own place', 'Matters come together across conversations. Takes longer.', () => actions.importing.how('own'))}
  </fieldset>`;
}

function targets(state: AppState, actions: Actions): TemplateResult {
  const { target, name, picked } = state.importing;
  const ours = picked !== null && picked.forest !== null;
  const naming = html`<input id="import-name" class="import-field" type="text" maxlength="120" required aria-label="Name of the new forest" autocomplete="off" data-testid="import-name"
    .value=${name} @input=${(event: Event) => actions.importing.name((event.currentTarget as HTMLInputElement).value)}>`;
  if (!state.forest) return html`<fieldset><legend>Name of the forest</legend>${naming}</fieldset>`;
  const hint = ours ? (isFirstVisit(state) ? 'It comes back as it was.' : 'Only an empty forest takes an export of ArborWeb.') : '';
  return html`<fieldset><legend>Into</legend>
    ${choice('target', 'here', target, `This forest, ${state.forest.name}`, hint, () => actions.importing.target('here'))}
    ${choice('target', 'new', target, 'A new forest', '', () => actions.importing.target('new'))}
    ${target === 'new' ? html`<div class="under-choice">${naming}</div>` : nothing}
  </fieldset>`;
}

function choosing(state: AppState, actions: Actions): TemplateResult {
  const { importing } = state;
  const ours = importing.picked !== null && importing.picked.forest !== null;
  const nameless = (importing.target === 'new' || !state.forest) && !importing.name.trim();
  return html`<form class="import" @submit=${(event: Event) => { event.preventDefault(); actions.importing.start(); }}>
    <p class="dialog-lead">Bring along what you said elsewhere: chats of ChatGPT, Claude, Open WebUI and LibreChat, an export of ArborWeb, or JSON lines.</p>
    ${fileField(importing, state.me?.max_import_bytes ?? 0, actions)}
    ${importing.trouble ? trouble(importing.trouble) : nothing}
    <details class="import-more"><summary>Where to get such a file</summary>
      <dl class="import-where">${WHERE.map(([who, how]) => html`<div><dt>${who}</dt><dd>${how}</dd></div>`)}</dl></details>
    ${ours ? nothing : places(importing, actions)}
    ${targets(state, actions)}
    <div class="dialog-actions"><button type="button" class="button" @click=${shut}>Cancel</button>
      <button type="submit" class="button primary" data-testid="import-start" ?disabled=${!importing.picked || nameless}>Import</button></div>
  </form>`;
}

/* --- Under way --- */

function sending({ sending: now, picked }: Importing, actions: Actions): TemplateResult {
  const { sent, total } = now ?? { sent: 0, total: 0 };
  return html`<div class="import import-step" tabindex="-1" ${ref(takeFocus)} data-testid="import-sending">
    <p class="import-big">Sending ${picked?.file.name ?? 'the file'}</p>
    ${bar('Sending the file', sent, total)}
    <p class="second">${sizeWords(sent)} of ${sizeWords(total)}. Keep this page open until it has arrived.</p>
    <div class="dialog-actions"><button type="button" class="button" data-testid="import-stop" @click=${() => actions.importing.stop()}>Stop</button></div>
  </div>`;
}

function working({ job, lost, stopping }: Importing & { job: Job }, actions: Actions): TemplateResult {
  return html`<div class="import import-step" tabindex="-1" ${ref(takeFocus)} data-testid="import-working">
    <p class="import-big" data-testid="import-progress">${workingWords(job, lost)}</p>
    ${bar('Taking in the turns', job.done, job.total)}
    <p class="second">It goes on by itself: close this window or the page as you like. What came in stays when you cancel.</p>
    <div class="dialog-actions"><button type="button" class="button" data-testid="import-cancel" ?disabled=${stopping} @click=${() => actions.importing.cancel()}>${stopping ? 'Cancelling…' : 'Cancel the import'}</button>
      <button type="button" class="button primary" data-testid="import-watch" @click=${() => actions.importing.show()}>Watch it grow</button></div>
  </div>`;
}

/* --- What came of it --- */

const counted = (title: string, list: Remark[]): TemplateResult | typeof nothing =>
  list.length
    ? html`<h3>${title}</h3><dl class="remark-counts">${list.map((one) => html`<div><dt>${one.label}</dt><dd>${one.count.toLocaleString('en')}</dd></div>`)}</dl>`
    : nothing;

function report(job: Job, actions: Actions): TemplateResult | typeof nothing {
  const { leftOut, changed, total, lines } = remarks(job);
  if (!total) return nothing;
  const text = () => (job.import?.lines ?? []).join('\n');
  return html`<div class="import-report" data-testid="import-report">
    ${counted('Left out', leftOut)}${counted('Kept, but changed', changed)}
    ${lines.length ? html`<details class="import-more"><summary data-testid="import-lines">${total > lines.length && lines.length >= LINES_KEPT ? `The first ${lines.length} of ${total.toLocaleString('en')} remarks` : 'One by one'}</summary>
      <div class="remark-bar"><button type="button" class="button small" data-testid="import-copy" @click=${() => actions.copy(text(), 'The list')}>${icon('copy', 15)}Copy</button></div>
      <ol class="remark-list" tabindex="0" aria-label="What was left out or changed">${lines.map((line) => html`<li><span class="second">${line.where}</span> ${line.what}</li>`)}</ol></details>` : nothing}
  </div>`;
}

function done(state: AppState, job: Job, actions: Actions): TemplateResult {
  const more = details(job);
  return html`<div class="import import-step" tabindex="-1" ${ref(takeFocus)} data-testid="import-done">
    <p class="import-big"><span class="done-mark">${icon('check', 18)}</span>${headline(job)}</p>
    ${more ? html`<p class="import-from">${more}</p>` : nothing}
    ${state.pending ? html`<p class="second">Facts follow while memory is written: ${state.pending.toLocaleString('en')} to go.</p>` : nothing}
    ${report(job, actions)}
    <div class="dialog-actions"><button type="button" class="button" data-testid="import-again" @click=${() => actions.importing.again()}>Import another</button>
      <button type="button" class="button primary" data-testid="import-show" @click=${() => actions.importing.show()}>See the forest</button></div>
  </div>`;
}

function cancelled(state: AppState, job: Job, actions: Actions): TemplateResult {
  const some = (job.import?.new ?? 0) > 0;
  return html`<div class="import import-step" tabindex="-1" ${ref(takeFocus)} data-testid="import-cancelled">
    <p class="import-big"><span class="done-mark calm">${icon('stop', 18)}</span>${headline(job)}</p>
    <p class="import-from">${keptWords(job)}</p>
    ${some && state.pending ? html`<p class="second">Facts follow while memory is written: ${state.pending.toLocaleString('en')} to go.</p>` : nothing}
    ${report(job, actions)}
    <div class="dialog-actions"><button type="button" class="button ${some ? '' : 'primary'}" data-testid="import-again" @click=${() => actions.importing.again()}>Choose a file</button>
      ${some ? html`<button type="button" class="button primary" data-testid="import-show" @click=${() => actions.importing.show()}>See the forest</button>` : nothing}</div>
  </div>`;
}

function failed({ picked }: Importing, job: Job, actions: Actions): TemplateResult {
  const why = jobTrouble(job);
  const elsewhere = why.code === 'conflict' && picked !== null;
  return html`<div class="import import-step" tabindex="-1" ${ref(takeFocus)} data-testid="import-failed">
    <p class="import-big">${headline(job)}</p>
    ${trouble(why)}
    ${report(job, actions)}
    <div class="dialog-actions"><button type="button" class="button ${elsewhere ? '' : 'primary'}" data-testid="import-again" @click=${() => actions.importing.again()}>Choose a file</button>
      ${elsewhere ? html`<button type="button" class="button primary" data-testid="import-into-new" @click=${() => actions.importing.intoNew()}>Import into a new forest</button>` : nothing}</div>
  </div>`;
}

export function importDialog(state: AppState, actions: Actions): TemplateResult {
  const { importing } = state;
  switch (stepOf(importing)) {
    case 'sending': return frame('Import chats', sending(importing, actions), actions);
    case 'working': return frame('Taking in the turns', working({ ...importing, job: importing.job! }, actions), actions);
    case 'done': return frame('Import', done(state, importing.job!, actions), actions);
    case 'cancelled': return frame('Import', cancelled(state, importing.job!, actions), actions);
    case 'failed': return frame('Import', failed(importing, importing.job!, actions), actions);
    default: return frame('Import chats', choosing(state, actions), actions);
  }
}

/* --- While the dialog is closed --- */

const ENDED_ICON: Record<string, string> = { failed: 'warn', cancelled: 'stop' };

/** A quiet line that says how far it is, and afterwards what came of it. */
export function importLine(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const { importing } = state;
  const words = lineWords(importing);
  if (!words || state.dialog === 'import') return nothing;
  const { done: at, total } = importing.job ?? { done: importing.sending?.sent ?? 0, total: importing.sending?.total ?? 0 };
  const busy = isUnderWay(importing);
  return html`<div class="import-line" role="group" aria-label="Import" data-testid="import-line">
    ${busy ? html`<span class="breath"></span>` : icon(ENDED_ICON[importing.job?.status ?? ''] ?? 'check', 16)}
    <span class="import-words">${words}</span>
    ${busy ? bar('Import', at, total) : nothing}
    <button type="button" class="button small" data-testid="import-details" @click=${() => actions.importing.open()}>Details</button>
    ${busy ? nothing : html`<button type="button" class="icon-button" aria-label="Dismiss" data-testid="import-dismiss" @click=${() => actions.importing.dismiss()}>${icon('close', 15)}</button>`}
  </div>`;
}

/** Over the whole page while a file is held over it. */
export const dropVeil = ({ importing, dialog }: AppState): TemplateResult | typeof nothing =>
  importing.over && dialog !== 'import'
    ? html`<div class="drop-veil" data-testid="drop-veil" aria-hidden="true"><div>${icon('up', 30)}<p class="import-big">Drop it to import</p>
        <p>ChatGPT, Claude, Open WebUI, LibreChat, ArborWeb, JSON lines</p></div></div>`
    : nothing;
