/** The view in the address: selection, tab, drawing and camera, so that a reload and a link show the same. */

import { readFilter, strength, writeFilter, type Filter } from '../filtering/filtering';
import type { Camera } from '../forest/types';
import type { AppState, Tab } from '../state';
import type { Item } from '../types';

export interface View {
  state?: number;
  turn?: number;
  item?: { kind: Item['kind']; id: number };
  tab?: Tab;
  drawing?: 'lanes' | 'tree';
  camera?: Camera;
  query?: string;
  asOf?: number;
  filter?: Filter;
  dialog?: 'import';
}

const TABS: readonly string[] = ['why', 'state', 'evidence', 'health'];
const KINDS: readonly Item['kind'][] = ['fact', 'artifact', 'event', 'mutable_state'];

const whole = (text: string | null): number | undefined => (text && /^\d{1,15}$/.test(text) ? Number(text) : undefined);

export function readView(hash: string): View {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const view: View = {};
  const state = whole(params.get('state'));
  const turn = whole(params.get('turn'));
  if (state !== undefined) view.state = state;
  if (turn !== undefined) view.turn = turn;
  for (const kind of KINDS) {
    const id = whole(params.get(kind));
    if (id !== undefined) view.item = { kind, id };
  }
  const tab = params.get('tab');
  if (tab && TABS.includes(tab)) view.tab = tab as Tab;
  if (params.get('drawing') === 'tree') view.drawing = 'tree';
  const numbers = params.get('at')?.split(',').map(Number);
  if (numbers?.length === 3 && numbers.every(Number.isFinite)) view.camera = { unit: numbers[0]!, top: numbers[1]!, left: numbers[2]! };
  const query = params.get('q');
  if (query) view.query = query;
  const asOf = whole(params.get('as_of'));
  if (asOf !== undefined) view.asOf = asOf;
  const filter = readFilter(params);
  if (strength(filter)) view.filter = filter;
  if (params.get('dialog') === 'import') view.dialog = 'import';
  return view;
}

const rounded = (value: number) => String(Math.round(value * 100) / 100);

export function writeView(state: AppState, camera: Camera | null): string {
  const params = new URLSearchParams();
  if (state.selected !== null) params.set('state', String(state.selected));
  if (state.inspectedTurn !== null) params.set('turn', String(state.inspectedTurn));
  if (state.slot) params.set(state.slot.kind, String(state.slot.id));
  if (state.tab !== 'why') params.set('tab', state.tab);
  if (state.drawing === 'tree') params.set('drawing', 'tree');
  if (state.query) params.set('q', state.query);
  if (state.asOf !== null) params.set('as_of', String(state.asOf));
  writeFilter(state.filter, params);
  if (state.dialog === 'import') params.set('dialog', 'import');
  if (camera) params.set('at', [camera.unit, camera.top, camera.left].map(rounded).join(','));
  const text = params.toString().replace(/%2C/g, ',');
  return text ? `#${text}` : '';
}
