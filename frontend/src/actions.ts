/** What a person can do on the page. Templates only call these. */

import type { ChatTurn } from './chat/turns';
import type { CorrectActions } from './correcting/actions';
import type { Filter } from './filtering/filtering';
import type { ForgetActions } from './forgetting/actions';
import type { Drawing } from './forest/types';
import type { ImportActions } from './importing/actions';
import type { ModelActions } from './models/actions';
import type { AppState, Dialog, PhoneTab, Place, Tab } from './state';
import type { Item } from './types';

export interface Actions {
  /* Chat */
  send(text: string): boolean;
  draft(text: string): void;
  cancel(turn: number): void;
  retry(turn: ChatTurn): void;
  keep(turn: number): void;
  drop(turn: ChatTurn): void;
  edit(turn: ChatTurn): void;
  editDraft(text: string): void;
  editOriginal(): void;
  cancelEdit(): void;
  sendEdit(): void;
  /** Drop a broken turn and write its text anew. */
  rewrite(turn: ChatTurn): void;
  /** The same text once more, beside the first one. */
  askAgain(turn: ChatTurn): void;
  /** Show a turn in the chat, and its state in the forest. */
  reveal(turn: number, state: number | null): void;
  /** Show a long text whole, or its beginning again. */
  showText(turn: number): void;
  earlier(): void;
  newest(): void;
  place(place: Place): void;
  dismissNotice(): void;
  copy(text: string, what: string): void;

  /* Looking around */
  select(state: number | null, options?: { center?: boolean }): void;
  preview(state: number | null): void;
  inspectTurn(turn: number): void;
  inspectItem(kind: Item['kind'] | string, id: number, state: number | null): void;
  openSlot(item: Item): void;
  closeSlot(): void;
  tab(tab: Tab): void;
  scope(scope: 'turn' | 'all'): void;
  toggleBlock(name: string): void;
  toggleCandidate(index: number): void;
  showChips(turn: number): void;
  search(query: string): void;
  walkHits(step: number): void;
  chooseHit(index: number): void;
  /** What is looked at; the rest is dimmed. */
  filter(part: Partial<Filter>): void;
  /** The forest as it was at a position; null is now. */
  asOf(position: number | null): void;
  /** Bring the slider through time out, or put it away and come back to now. */
  travel(on: boolean): void;
  drawing(drawing: Drawing): void;
  fit(): void;
  savePicture(kind: 'png' | 'svg'): void;
  /** What can be done with a state in the drawing, at a place of the page. */
  stateMenu(at: AppState['stateMenu']): void;
  allCandidates(): void;

  /* The page itself */
  menu(name: string | null): void;
  dialog(name: Dialog | null): void;
  drawer(open: boolean): void;
  phoneTab(tab: PhoneTab): void;
  fold(panel: 'chat' | 'inspector', folded: boolean): void;
  resize(panel: 'chat' | 'inspector', width: number): void;
  theme(theme: AppState['theme']): void;
  newForest(name: string): void;
  rename(name: string): void;
  growSample(): void;
  /** A part of the page that was waited for is here, or couldn't be had. */
  partCame(here: boolean): void;
  dismissToast(): void;
  correct: CorrectActions;
  forget: ForgetActions;
  models: ModelActions;
  importing: ImportActions;
  signOut(): void;
}
