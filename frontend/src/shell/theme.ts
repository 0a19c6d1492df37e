/** Light, dark, or as the system is. The choice is kept in this browser and set before the first paint by static/theme.js. */

import { keepSetting, readSetting } from '../chat/draft';
import type { AppState } from '../state';

type Theme = AppState['theme'];

export const readTheme = (): Theme => {
  const kept = readSetting('theme');
  return kept === 'light' || kept === 'dark' ? kept : 'system';
};

export function applyTheme(theme: Theme): void {
  keepSetting('theme', theme);
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
