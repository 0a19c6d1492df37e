/** Icons as SVG strokes on a 20 × 20 field, drawn in the colour of the text. */

import { html, svg, type SVGTemplateResult, type TemplateResult } from 'lit-html';

const PATHS: Record<string, SVGTemplateResult> = {
  chevron: svg`<path d="m5.5 8 4.5 4.5L14.5 8"/>`,
  right: svg`<path d="m8 5.5 4.5 4.5L8 14.5"/>`,
  search: svg`<circle cx="8.8" cy="8.8" r="5.3"/><path d="m12.8 12.8 4 4"/>`,
  pin: svg`<path d="M7.5 3h5l-.6 5.2 2.6 2.8v1.5h-9V11l2.6-2.8L7.5 3ZM10 12.5V17"/>`,
  send: svg`<path d="M10 16V4.5M5.5 9 10 4.5 14.5 9"/>`,
  stop: svg`<rect x="6" y="6" width="8" height="8" rx="1.8" fill="currentColor" stroke="none"/>`,
  fit: svg`<path d="M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4"/>`,
  copy: svg`<rect x="7" y="7" width="9.5" height="9.5" rx="2"/><path d="M13 7V5.5a2 2 0 0 0-2-2H5.5a2 2 0 0 0-2 2V11a2 2 0 0 0 2 2H7"/>`,
  more: svg`<g fill="currentColor" stroke="none"><circle cx="4.5" cy="10" r="1.6"/><circle cx="10" cy="10" r="1.6"/><circle cx="15.5" cy="10" r="1.6"/></g>`,
  info: svg`<circle cx="10" cy="10" r="7"/><path d="M10 9.2v4.3"/><circle cx="10" cy="6.6" r=".6" fill="currentColor"/>`,
  warn: svg`<path d="M10 3.5 17.3 16H2.7L10 3.5Z"/><path d="M10 8.2v3.6"/><circle cx="10" cy="13.8" r=".5" fill="currentColor"/>`,
  chat: svg`<path d="M5 3.5h10A1.5 1.5 0 0 1 16.5 5v7A1.5 1.5 0 0 1 15 13.5H8.5L5.3 16.7v-3.2H5A1.5 1.5 0 0 1 3.5 12V5A1.5 1.5 0 0 1 5 3.5Z"/>`,
  forest: svg`<path d="M10 17V8M10 12.5C6.5 12.5 5.5 10 5.5 6.5M10 12.5c3.5 0 4.5-2.5 4.5-6"/><circle cx="5.5" cy="5" r="1.7"/><circle cx="14.5" cy="5" r="1.7"/><circle cx="10" cy="5.8" r="1.9"/>`,
  check: svg`<path d="m4.5 10.5 3.7 3.7 7.3-8"/>`,
  plus: svg`<path d="M10 4.5v11M4.5 10h11"/>`,
  close: svg`<path d="m5.5 5.5 9 9M14.5 5.5l-9 9"/>`,
  link: svg`<path d="m8.3 11.7 3.4-3.4M9 6.5l1.6-1.6a3.2 3.2 0 0 1 4.5 4.5L13.5 11M11 13.5l-1.6 1.6a3.2 3.2 0 0 1-4.5-4.5L6.5 9"/>`,
  edit: svg`<path d="M12.2 5 15 7.8M4 16l.7-3.5 8.4-8.4a1.98 1.98 0 0 1 2.8 2.8l-8.4 8.4L4 16Z"/>`,
  fork: svg`<path d="M6.5 7v9.5M6.5 12.5c0-4 7-1.5 7-5.5"/><circle cx="6.5" cy="5" r="1.9"/><circle cx="13.5" cy="5" r="1.9"/>`,
  retry: svg`<path d="M15.8 8A6.2 6.2 0 1 0 16 11.8M16.2 3.8V8H12"/>`,
  down: svg`<path d="M10 3.5v9M6 9l4 4 4-4M4 16.5h12"/>`,
  up: svg`<path d="M10 16.5v-9M6 11l4-4 4 4M4 3.5h12"/>`,
  file: svg`<path d="M5.5 2.8h6l3.5 3.6v10.8h-9.5V2.8Z"/><path d="M11.3 3v3.6H15"/>`,
  clock: svg`<circle cx="10" cy="10" r="6.8"/><path d="M10 6v4.3l2.8 1.8"/>`,
  filter: svg`<path d="M3.5 5.5h13M6 10h8M8.5 14.5h3"/>`,
  trash: svg`<path d="M4.5 6h11M8 6V4.3h4V6M6 6l.6 10h6.8L14 6M8.6 9v4.2M11.4 9v4.2"/>`,
  move: svg`<path d="M5 4v5.5a3 3 0 0 0 3 3h7.5M12 9l3.5 3.5L12 16"/>`,
  undo: svg`<path d="M7.5 4.5 4 8l3.5 3.5M4.3 8h7.2a4.2 4.2 0 0 1 0 8.4H8"/>`,
  scales: svg`<path d="M10 3.5v13M6.5 16.5h7M4 6.5h12M4 6.5 2.3 11a2.1 2.1 0 0 0 3.4 0L4 6.5ZM16 6.5 14.3 11a2.1 2.1 0 0 0 3.4 0L16 6.5Z"/>`,
  left: svg`<path d="M12 5.5 7.5 10l4.5 4.5"/>`,
  target: svg`<circle cx="10" cy="10" r="5.5"/><circle cx="10" cy="10" r="1.3" fill="currentColor" stroke="none"/><path d="M10 2.5v3M10 14.5v3M2.5 10h3M14.5 10h3"/>`,
};

export type IconName = keyof typeof PATHS;

export const icon = (name: string, size = 16): TemplateResult => html`<svg class="icon" viewBox="0 0 20 20" width=${size} height=${size}
  fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${PATHS[name]}</svg>`;

/** The mark of ArborWeb: a stem with one branch. */
export const logo = (): TemplateResult => html`<svg class="logo" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
  <path d="M7 4v16M7 8c0 5 10 3 10 9v3" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round"/>
  <circle cx="7" cy="4" r="2.7" fill="currentColor"/><circle cx="7" cy="20" r="2.7" fill="currentColor"/><circle cx="17" cy="20" r="2.7" fill="currentColor"/></svg>`;
