/** The button that narrows what is looked at, and what opens under it. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { late } from '../shell/late';
import type { AppState } from '../state';
import { strength } from './filtering';

const panelPart = late(() => import('./panel'));

export function filterButton(state: AppState, actions: Actions): TemplateResult {
  const open = state.menu === 'filter';
  const on = strength(state.filter);
  return html`<div class="menu-wrap" @keydown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !open) return;
      event.stopPropagation();
      actions.menu(null);
      (event.currentTarget as HTMLElement).querySelector('button')?.focus();
    }}>
    <button type="button" class="icon-button filter-button ${on ? 'on' : ''}" aria-expanded=${open} aria-controls="filters" data-testid="filter"
      aria-label=${on ? `Filters, ${on} on` : 'Filters'} @click=${() => actions.menu(open ? null : 'filter')}>${icon('filter', 17)}${on ? html`<span class="badge" aria-hidden="true">${on}</span>` : nothing}</button>
    ${open ? panelPart(actions)?.panel(state, actions) ?? nothing : nothing}</div>`;
}
