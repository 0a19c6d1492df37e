/** Which model answers next in this forest, beside the place of the turn. */

import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import { icon } from '../icons';
import { menu } from '../shell/menu';
import type { AppState } from '../state';
import { choiceOf } from './models';
import { shortName } from './words';

export function modelPicker(state: AppState, actions: Actions): TemplateResult | typeof nothing {
  const choice = state.forest && choiceOf(state.models.known, state.forest.answer_model);
  if (!choice) return nothing;
  const { answers, usual, names, gone } = choice;
  return menu({
    name: 'model', open: state.menu, toggle: actions.menu, class: `pill quiet ${gone ? 'gone' : ''}`, up: true, right: true,
    label: gone ? `${gone} isn’t offered any more, ${answers} answers: which model answers next` : `${answers}: which model answers next`,
    face: html`${gone ? icon('warn', 14) : nothing}<span>${shortName(answers)}</span>${icon('chevron', 14)}`,
    groups: [
      {
        title: gone ? `${shortName(gone)} isn’t offered any more` : 'Answers next in this forest',
        items: names.map((name) => ({
          label: name, checked: name === answers, run: () => actions.models.choose(name === usual ? '' : name), ...(name === usual ? { hint: 'The usual one here' } : {}),
        })),
      },
      { items: [{ label: 'About the models…', leading: icon('info', 15), run: () => actions.models.open() }] },
    ],
  });
}
