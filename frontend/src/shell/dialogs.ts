/** Dialogs: help, the exact messages of a turn, and naming a forest. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { importDialog } from '../importing/dialog';
import type { AppState } from '../state';
import { frame } from './frame';
import { late } from './late';

const models = late(() => import('../models/dialog'));
const correcting = late(() => import('../correcting/correct-dialogs'));
const forgetting = late(() => import('../forgetting/forget-dialog'));

const KEYS: [string, string][] = [
  ['Enter', 'Send; with Shift a new line'],
  ['/', 'Search'],
  ['↑ ↓', 'In the search: walk the results. In the forest: parent and child'],
  ['← →', 'In the forest: siblings'],
  ['[ ]', 'Previous and next turn in time'],
  ['f', 'Fit the whole forest'],
  ['c', 'Go to the message field'],
  ['e', 'Edit the selected turn, else the last one'],
  ['m', 'Move the selected turn: arrows or search choose where, Enter puts it there'],
  ['Menu', 'In the forest: what can be done with a turn (also Shift F10)'],
  ['u', 'Undo what was just done'],
  ['t', 'Travel in time: the forest as it was'],
  ['Tab', 'From the forest to the days on its strip: arrows move an end, Esc shows all days'],
  ['1 2 3 4', 'Why here, State, Evidence, Health'],
  ['Esc', 'Close, or let go of the selection. In the message field: stop the answer'],
  ['?', 'This help'],
];

const help = (actions: Actions): TemplateResult => frame('Keyboard and help', html`
  <p class="dialog-lead">Talk about anything, in any order. Every turn finds the matter it belongs to, and each matter grows as a tree. The forest shows where a turn went; <b>Why here</b> says why.</p>
  <dl class="keys">${KEYS.map(([key, what]) => html`<div><dt>${key.split(' ').map((k) => html`<kbd>${k}</kbd>`)}</dt><dd>${what}</dd></div>`)}</dl>`, actions);

function messages(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  if (state.trace.status !== 'here' || !state.trace.value.context) return nothing;
  const { messages: list, messages_hash } = state.trace.value.context;
  return frame('Exact messages', html`
    <div class="dialog-bar"><span class="second">${list.length} messages${messages_hash ? html`, fingerprint ${messages_hash.slice(0, 12)}` : nothing}</span>
      <button type="button" class="button small" data-testid="copy-messages" @click=${() => actions.copy(JSON.stringify(list, null, 2), 'The messages')}>${icon('copy', 15)}Copy all as JSON</button></div>
    <ol class="messages">${list.map((message) => html`<li><div class="message-head"><h3>${message.role}</h3>
      <button type="button" class="tool shown" aria-label=${`Copy the message of ${message.role}`} @click=${() => actions.copy(message.content, 'The message')}>${icon('copy', 14)}Copy</button></div><pre dir="auto" tabindex="0">${message.content}</pre></li>`)}</ol>`, actions, true);
}

function naming(title: string, value: string, verb: string, done: (name: string) => void, actions: Actions): TemplateResult {
  return frame(title, html`<form class="naming" @submit=${(event: Event) => {
      event.preventDefault();
      const name = (event.currentTarget as HTMLFormElement).querySelector('input')!.value.trim();
      if (name) done(name);
    }}>
    <label for="name">Name</label><input id="name" type="text" maxlength="120" required .value=${value} autocomplete="off">
    <div class="dialog-actions"><button type="button" class="button" @click=${() => actions.dialog(null)}>Cancel</button>
      <button type="submit" class="button primary">${verb}</button></div></form>`, actions);
}

export function dialogs(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  switch (state.dialog) {
    case 'help': return help(actions);
    case 'import': return importDialog(state, actions);
    case 'messages': return messages(state, actions);
    case 'models': return models(actions)?.modelsDialog(state, actions) ?? nothing;
    case 'move': return correcting(actions)?.moveDialog(state, actions) ?? nothing;
    case 'replay': return correcting(actions)?.replayDialog(state, actions) ?? nothing;
    case 'reword': return correcting(actions)?.rewordDialog(state, actions) ?? nothing;
    case 'forget': return forgetting(actions)?.forgetDialog(state, actions) ?? nothing;
    case 'rename': return naming('Rename this forest', state.forest?.name ?? '', 'Rename', actions.rename, actions);
    case 'new-forest': return naming('New forest', '', 'Plant it', actions.newForest, actions);
    default: return nothing;
  }
}
