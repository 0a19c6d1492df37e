/** A button with a menu under or over it (WAI-ARIA menu button): arrows walk, Escape closes, Tab leaves. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { ifDefined } from 'lit-html/directives/if-defined.js';
import { icon } from '../icons';

export interface MenuItem {
  label: string;
  hint?: string;
  /** A choice among several, ticked or not. */
  checked?: boolean;
  disabled?: boolean;
  href?: string;
  /** The name under which the browser saves what `href` leads to. */
  download?: string;
  leading?: TemplateResult;
  /** Something that can't be undone. */
  clay?: boolean;
  run?(): void;
}

export interface MenuOptions {
  name: string;
  open: string | null;
  toggle(name: string | null): void;
  label: string;
  face: TemplateResult;
  class: string;
  /** Groups are parted by a line. */
  groups: { title?: string; items: MenuItem[] }[];
  up?: boolean;
  right?: boolean;
}

export const entries = (menu: Element) => [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]:not([aria-disabled="true"])')];

function onKey(event: KeyboardEvent, options: MenuOptions): void {
  const wrap = event.currentTarget as HTMLElement;
  const isOpen = options.open === options.name;
  const button = wrap.querySelector<HTMLElement>('button')!;
  if (!isOpen) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      openMenu(wrap, options);
    }
    return;
  }
  const list = entries(wrap);
  const at = list.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) list[(at + step + list.length) % list.length]?.focus();
  else if (event.key === 'Home') list[0]?.focus();
  else if (event.key === 'End') list.at(-1)?.focus();
  else if (event.key === 'Escape') {
    options.toggle(null);
    button.focus();
  } else if (event.key === 'Tab') {
    options.toggle(null);
    return;
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

function openMenu(wrap: HTMLElement, options: MenuOptions): void {
  options.toggle(options.name);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const list = entries(wrap);
    (list.find((entry) => entry.getAttribute('aria-checked') === 'true') ?? list[0])?.focus();
  }));
}

function entry(item: MenuItem, options: MenuOptions, wrapOf: (event: Event) => HTMLElement): TemplateResult {
  const role = item.checked === undefined ? 'menuitem' : 'menuitemradio';
  const inner = html`<span class="menu-tick">${item.checked ? icon('check', 15) : item.leading ?? nothing}</span>
    <span class="menu-label">${item.label}${item.hint ? html`<small>${item.hint}</small>` : nothing}</span>`;
  const choose = (event: Event) => {
    if (item.disabled) return;
    options.toggle(null);
    wrapOf(event).querySelector('button')?.focus();
    item.run?.();
  };
  return item.href
    ? html`<a class="menu-item" role=${role} tabindex="-1" href=${item.href} download=${ifDefined(item.download)}
        aria-checked=${ifDefined(item.checked === undefined ? undefined : String(item.checked))} @click=${choose}>${inner}</a>`
    : html`<button type="button" class="menu-item ${item.clay ? 'clay' : ''}" role=${role} tabindex="-1" aria-disabled=${item.disabled ? 'true' : 'false'}
        aria-checked=${ifDefined(item.checked === undefined ? undefined : String(item.checked))} @click=${choose}>${inner}</button>`;
}

export function menu(options: MenuOptions): TemplateResult {
  const isOpen = options.open === options.name;
  const wrapOf = (event: Event) => (event.currentTarget as HTMLElement).closest<HTMLElement>('.menu-wrap')!;
  return html`<div class="menu-wrap" @keydown=${(event: KeyboardEvent) => onKey(event, options)}>
    <button type="button" class=${options.class} aria-haspopup="menu" aria-expanded=${isOpen} aria-label=${options.label}
      data-testid=${`menu-${options.name}`}
      @click=${(event: Event) => (isOpen ? options.toggle(null) : openMenu(wrapOf(event), options))}>${options.face}</button>
    ${isOpen
      ? html`<div class="menu ${options.up ? 'up' : ''} ${options.right ? 'right' : ''}" role="menu" aria-label=${options.label}>
          ${options.groups.filter((group) => group.items.length).map((group) => html`<div class="menu-group" role="group" aria-label=${ifDefined(group.title)}>
            ${group.title ? html`<div class="menu-title">${group.title}</div>` : nothing}
            ${group.items.map((item) => entry(item, options, wrapOf))}</div>`)}
        </div>`
      : nothing}
  </div>`;
}
