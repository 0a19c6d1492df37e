/** The lines between panels: drag, arrow keys, double click or Enter to fold. Widths are kept in this browser. */

import { html, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions';
import type { AppState } from '../state';

export const RANGE = { chat: [320, 560], inspector: [360, 640] } as const;
const LEAST_FOREST = 480;
const RAIL = 48;
const STEP = 16;
/** Dragged this far below the least width, a panel folds. */
const FOLD_AT = 120;

/** The width a panel may have: its range, and what the forest must keep. */
export function clampWidth(panel: 'chat' | 'inspector', wanted: number, state: AppState, page: number): number {
  const other = panel === 'chat' ? 'inspector' : 'chat';
  const taken = state.folded[other] ? RAIL : state.widths[other];
  const [least, most] = RANGE[panel];
  return Math.round(Math.max(least, Math.min(most, wanted, page - taken - LEAST_FOREST)));
}

export function divider(panel: 'chat' | 'inspector', state: AppState, actions: Actions): TemplateResult {
  const sign = panel === 'chat' ? 1 : -1;
  const [least, most] = RANGE[panel];
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const line = event.currentTarget as HTMLElement;
    line.setPointerCapture(event.pointerId);
    line.classList.add('dragging');
    const from = event.clientX;
    const width = state.widths[panel];
    line.onpointermove = (move) => {
      const wanted = width + sign * (move.clientX - from);
      if (wanted < least - FOLD_AT) {
        line.onpointermove = null;
        line.classList.remove('dragging');
        actions.fold(panel, true);
      } else actions.resize(panel, wanted);
    };
    line.onpointerup = line.onpointercancel = () => {
      line.onpointermove = null;
      line.classList.remove('dragging');
    };
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
    if (step) actions.resize(panel, state.widths[panel] + sign * step);
    else if (event.key === 'Home') actions.resize(panel, least);
    else if (event.key === 'End') actions.resize(panel, most);
    else if (event.key === 'Enter') actions.fold(panel, true);
    else return;
    event.preventDefault();
  };
  return html`<div class="divider ${panel}" role="separator" aria-orientation="vertical" tabindex="0" data-testid="divider-${panel}"
    aria-label=${panel === 'chat' ? 'Width of the chat' : 'Width of the details'} aria-valuenow=${state.widths[panel]} aria-valuemin=${least} aria-valuemax=${most}
    @pointerdown=${down} @keydown=${key} @dblclick=${() => actions.fold(panel, true)}></div>`;
}
