/** Search as you type: the field, and the hits under it (a combobox: arrows walk, Enter goes there). */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import type { AppState } from '../state';
import type { SearchHit } from '../types';
import { leafOf } from './leaf';

const MOST_LISTED = 12;
const KINDS: Record<SearchHit['kind'], string> = { turn: '', fact: 'fact', topic: 'topic' };

/** The text with what was searched for in bold, by word. */
function marked(text: string, query: string): (string | TemplateResult)[] {
  const words = query.trim().split(/\s+/).filter((word) => word.length > 1).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (!words.length) return [text];
  return text.split(new RegExp(`(${words.join('|')})`, 'giu')).map((piece, i) => (i % 2 ? html`<b>${piece}</b>` : piece));
}

function onKey(event: KeyboardEvent, state: AppState, actions: Actions): void {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') actions.walkHits(event.key === 'ArrowDown' ? 1 : -1);
  else if (event.key === 'Enter') actions.chooseHit(Math.max(0, state.hitAt));
  else if (event.key === 'Escape') {
    actions.search('');
    (event.currentTarget as HTMLInputElement).value = '';
    (event.currentTarget as HTMLInputElement).blur();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

export function searchField(state: AppState, actions: Actions): TemplateResult {
  const hits = state.hits?.slice(0, MOST_LISTED) ?? [];
  const open = state.hits !== null && state.query !== '';
  return html`<div class="search" role="search">
    <span class="search-icon">${icon('search', 17)}</span>
    <input id="search" type="search" data-testid="search" placeholder="Find a turn, a fact, a name" autocomplete="off" spellcheck="false" maxlength="200"
      role="combobox" aria-label="Find a turn, a fact, a name" aria-expanded=${open} aria-controls="hits" aria-autocomplete="list"
      aria-activedescendant=${open && state.hitAt >= 0 ? `hit-${state.hitAt}` : ''} .value=${state.query}
      @input=${(event: Event) => actions.search((event.currentTarget as HTMLInputElement).value)}
      @keydown=${(event: KeyboardEvent) => onKey(event, state, actions)}>
    ${state.query ? nothing : html`<kbd class="search-key" aria-hidden="true">/</kbd>`}
    ${open
      ? html`<div class="hits" id="hits" role="listbox" aria-label="Results" data-testid="hits">
          ${hits.length
            ? html`${hits.map((hit, i) => {
                const row = state.states.get(hit.state);
                return html`<button type="button" role="option" id="hit-${i}" tabindex="-1" class="hit" aria-selected=${i === state.hitAt} @click=${() => actions.chooseHit(i)}>
                  ${leafOf(row ? state.trees.get(row.root) : undefined)}<span class="hit-text" dir="auto">${marked(hit.text || row?.label || '', state.query)}</span>
                  <span class="second">${KINDS[hit.kind] ?? ''}${KINDS[hit.kind] && row ? ', ' : ''}${row ? `turn ${row.position}` : ''}</span></button>`;
              })}
              ${(state.hits?.length ?? 0) > hits.length ? html`<p class="hits-more">${state.hits!.length - hits.length} more are lit in the forest</p>` : nothing}`
            : html`<p class="hits-more" role="option" aria-selected="false">Nothing about ‘${state.query.trim()}’</p>`}
        </div>`
      : nothing}
  </div>`;
}
