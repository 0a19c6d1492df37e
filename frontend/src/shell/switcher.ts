/** The name of the forest and what can be done with forests, theme and session. */

import { html, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { markdownOf } from '../api';
import { icon, logo } from '../icons';
import { isFirstVisit, type AppState } from '../state';
import { menu } from './menu';
import { count } from './time';

export function switcher(state: AppState, actions: Actions): TemplateResult {
  const theme = (value: AppState['theme'], label: string) => ({ label, checked: state.theme === value, run: () => actions.theme(value) });
  const name = state.forest?.name ?? 'ArborWeb';
  return html`<header class="panel-head chat-head">
    <span class="mark">${logo()}</span>
    ${menu({
      name: 'forest', open: state.menu, toggle: actions.menu, class: 'switcher', label: `${name}: forests and settings`,
      face: html`<span class="switcher-name">${name}</span>${icon('chevron', 16)}`,
      groups: [
        { title: 'Forests', items: state.forests.map((forest) => ({
          label: forest.name, hint: count(forest.counts.states, 'turn'), checked: forest.id === state.forest?.id, href: `/forests/${forest.id}/`,
        })) },
        { items: [
          { label: 'New forest…', leading: icon('plus', 15), run: () => actions.dialog('new-forest') },
          ...(state.forest ? [{ label: 'Rename this forest…', run: () => actions.dialog('rename') }] : []),
          { label: 'Import chats…', leading: icon('up', 15), run: () => actions.importing.open() },
          ...(state.forest && !isFirstVisit(state) ? [{ label: 'Export as JSON', leading: icon('down', 15), href: `/api/forests/${state.forest.id}/export/`, download: `${state.forest.name}.json` },
            { label: 'Export as Markdown', leading: icon('down', 15), href: markdownOf(state.forest.id), download: `${state.forest.name}.md` }] : []),
          ...(isFirstVisit(state) ? [] : [
            { label: 'Save the drawing as SVG', leading: icon('down', 15), run: () => actions.savePicture('svg') },
            { label: 'Save the drawing as PNG', leading: icon('down', 15), run: () => actions.savePicture('png') },
            { label: state.travelling ? 'Back to now' : 'Travel in time', leading: icon('clock', 15), run: () => { actions.travel(!state.travelling); actions.phoneTab('forest'); } },
          ]),
          ...(isFirstVisit(state) ? [] : [{ label: 'Fold the chat', run: () => actions.fold('chat', true) }]),
        ] },
        { title: 'Theme', items: [theme('system', 'As the system'), theme('light', 'Light'), theme('dark', 'Dark')] },
        { items: [
          { label: 'Models…', run: () => actions.models.open() },
          { label: 'Keyboard and help', run: () => actions.dialog('help') },
          ...(state.forest ? [{ label: 'Delete this forest…', leading: icon('trash', 15), clay: true, run: () => actions.forget.open({ kind: 'forest', id: state.forest!.id, text: state.forest!.name }) }] : []),
          ...(state.me ? [{ label: 'Delete your account…', leading: icon('trash', 15), clay: true, run: () => actions.forget.open({ kind: 'account', text: state.me!.username }) }] : []),
          { label: `Sign out ${state.me?.username ?? ''}`.trim(), run: () => actions.signOut() },
        ] },
      ],
    })}
  </header>`;
}
