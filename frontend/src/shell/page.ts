/** The page: panels, the lines between them, rails, phone tabs, dialogs. Pure from state to template. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from '../actions';
import { turnList } from '../chat/chat';
import { banners, composer } from '../chat/composer';
import { icon } from '../icons';
import { dropVeil, importLine } from '../importing/dialog';
import { isUnderWay } from '../importing/importing';
import { inspector } from '../inspector/inspector';
import { isFirstVisit, type AppState, type PhoneTab } from '../state';
import type { Trouble } from '../types';
import { dialogs } from './dialogs';
import { forestFoot, forestHead, peek } from './forest-panel';
import { overForest } from './over-forest';
import { late } from './late';
import { toastView } from './toast';
import { divider } from './resize';
import { switcher } from './switcher';

/** Elements that outlive a render and that the page talks to. */
export interface Hooks {
  turns(element: Element | undefined): void;
  area(element: Element | undefined): void;
  forest(element: Element | undefined): void;
}

const menuOfState = late(() => import('./state-menu'));

const PHONE_TABS: [PhoneTab, 'chat' | 'forest' | 'info', string][] = [['chat', 'chat', 'Chat'], ['forest', 'forest', 'Forest'], ['details', 'info', 'Details']];

function welcome(state: AppState, actions: Actions): TemplateResult {
  const { sample } = state;
  const growing = sample.status === 'growing';
  return html`<div class="welcome" data-testid="welcome">
    <h2>Talk about anything, in any order.</h2>
    <p>Each matter grows a branch of its own, and every answer starts from the right one.</p>
    <div class="welcome-buttons"><button type="button" class="button primary" data-testid="sample" ?disabled=${growing} @click=${() => actions.growSample()}>${growing ? 'Growing the sample…' : 'Open a sample forest'}</button>
      <button type="button" class="button" data-testid="import" ?disabled=${growing} @click=${() => actions.importing.open()}>${icon('up', 18)}Import chats</button></div>
    ${growing
      ? html`<div class="progress" role="status"><progress max=${sample.total || 1} value=${sample.total ? sample.done : 0} aria-label="Growing the sample forest"></progress>
          <span>${sample.total ? `${sample.done} of ${sample.total} turns` : sample.message || 'Getting ready'}</span></div>`
      : nothing}
    ${sample.status === 'failed' ? html`<div class="note clay" role="alert">${icon('warn', 18)}<p>${sample.message}</p></div>` : nothing}
    ${importLine(state, actions)}
  </div>`;
}

const rail = (panel: 'chat' | 'inspector', name: 'chat' | 'info', label: string, actions: Actions): TemplateResult =>
  html`<div class="rail ${panel}"><button type="button" class="icon-button" aria-label=${label} data-testid="rail-${panel}" @click=${() => actions.fold(panel, false)}>${icon(name, 18)}</button></div>`;

export function page(state: AppState, inspectorWidth: number, actions: Actions, hooks: Hooks): TemplateResult {
  const first = isFirstVisit(state);
  const classes = [
    'app', first ? 'first' : '', state.ready ? '' : 'opening', state.folded.chat && !first ? 'no-chat' : '', state.folded.inspector ? 'no-inspector' : '',
    state.drawer ? 'drawer-open' : '', `phone-${state.phoneTab}`,
  ].filter(Boolean).join(' ');
  return html`<main class=${classes} data-testid="app" data-ready=${state.ready}>
    <h1 class="hidden">${state.forest?.name ?? 'ArborWeb'}</h1>
    ${state.busy > 0 ? html`<div class="hairline" aria-hidden="true"></div>` : nothing}
    <section class="panel chat" aria-label="Chat">
      ${switcher(state, actions)}
      <div class="turns" role="log" aria-label="Conversation" aria-live="off" tabindex="0" data-testid="turns" ${ref(hooks.turns)}>
        ${first ? welcome(state, actions) : html`<div class="turns-inner">${state.turns.length === 0 && isUnderWay(state.importing)
          ? html`<p class="empty">Your chats are coming in. The turns appear here when all are there.</p>`
          : turnList(state, actions)}</div>`}
      </div>
      <div class="compose">${state.newer ? html`<button type="button" class="button small newer" data-testid="newer" @click=${() => actions.newest()}>${icon('down', 15)}Newer turns came in</button>` : nothing}${banners(state, actions)}${composer(state, actions, hooks.area)}</div>
    </section>
    ${first ? nothing : rail('chat', 'chat', 'Open the chat', actions)}
    ${first ? nothing : divider('chat', state, actions)}
    <section class="panel forest" aria-label="Forest">
      ${first ? nothing : forestHead(state, actions)}
      <div class="forest-box" data-testid="forest" ${ref(hooks.forest)}></div>
      ${first ? nothing : html`<div class="forest-over">${overForest(state, actions)}${importLine(state, actions)}</div>${peek(state, actions)}${forestFoot(state, actions)}`}
    </section>
    ${first ? nothing : html`${divider('inspector', state, actions)}
      <aside class="panel inspector" aria-label="Details">${inspector(state, inspectorWidth, actions)}</aside>
      ${rail('inspector', 'info', 'Open the details', actions)}
      <nav class="phone-tabs" aria-label="Parts of the page">${PHONE_TABS.map(([tab, name, label]) => html`<button type="button" aria-current=${state.phoneTab === tab ? 'page' : 'false'}
        data-testid="phone-${tab}" @click=${() => actions.phoneTab(tab)}>${icon(name, 22)}<span>${label}</span></button>`)}</nav>`}
    <div class="hidden" aria-live="polite" role="status" data-testid="announcer">${state.announcement}</div>
    ${toastView(state, actions)}
    ${state.stateMenu ? menuOfState(actions)?.stateMenu(state, actions) ?? nothing : nothing}
    ${dropVeil(state)}
    ${dialogs(state, actions)}
    ${state.fatal ? fatal(state.fatal) : nothing}
  </main>`;
}

/** Instead of the page when it can't be opened. */
const fatal = ({ message, action }: Trouble): TemplateResult => html`<div class="fatal" role="alert"><div class="note clay">${icon('warn', 20)}
  <div><p><b>${message}</b> ${action ?? ''}</p><div class="note-actions"><button type="button" class="button small" @click=${() => location.reload()}>${icon('retry', 15)}Try again</button>
    <a class="button small" href="/">Go to your forests</a></div></div></div></div>`;
