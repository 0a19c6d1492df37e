import { clamp } from './numbers';
import type { Frame } from './frame';

/** The small word at the right of a label, and its tone. */
export interface Tag {
  text: string;
  tone: 'plain' | 'moss' | 'sun';
}

/** A label's words. */
export interface LabelText {
  key: number;
  topic: string;
  text: string;
  tag: Tag | null;
  second: string;
  strong: boolean;
  /** In ink; else in the second text colour. */
  ink: boolean;
  y: number;
}

/** Any short text at a place: a day's name, a tree's name. */
export interface FreeText {
  key: string;
  text: string;
  bold: string;
  x: number;
  y: number;
}

/** Elements kept by key, so that panning only moves them. */
class Pool<Key> {
  private readonly used = new Map<Key, HTMLElement>();
  private readonly spare: HTMLElement[] = [];

  constructor(
    private readonly parent: HTMLElement,
    private readonly make: () => HTMLElement,
  ) {}

  /** Keeps an element for each key, and takes away the others. */
  show<Item>(items: readonly Item[], keyOf: (item: Item) => Key, write: (element: HTMLElement, item: Item) => void): void {
    const keys = new Set(items.map(keyOf));
    for (const [key, element] of this.used) {
      if (keys.has(key)) continue;
      this.used.delete(key);
      element.hidden = true;
      // What was deleted must not stay in the document either, seen or not.
      for (const leaf of element.querySelectorAll(':not(:has(*))')) leaf.textContent = '';
      this.spare.push(element);
    }
    for (const item of items) {
      const key = keyOf(item);
      let element = this.used.get(key);
      if (!element) {
        element = this.spare.pop();
        if (!element) {
          element = this.make();
          this.parent.append(element);
        }
        element.hidden = false;
        this.used.set(key, element);
      }
      write(element, item);
    }
  }
}

/** Writes text only where it changed: touching the same text again would still cost a layout. */
function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function element(name: string, className: string, children: HTMLElement[] = []): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
}

const HALF_LINE = 10;
/** On a wide page tags stay near their words. */
const WIDEST = 460;

/** The real text over the canvas: labels, day names, names of trees. Hidden from screen readers, who get the tree. */
export class LabelLayer {
  readonly element = element('div', 'forest-labels');
  private readonly labels: Pool<number>;
  private readonly days: Pool<string>;
  private readonly names: Pool<string>;

  constructor() {
    this.element.setAttribute('aria-hidden', 'true');
    this.labels = new Pool(this.element, makeLabel);
    this.days = new Pool(this.element, () => element('div', 'forest-day', [element('span', ''), element('b', '')]));
    this.names = new Pool(this.element, () => element('div', 'forest-name', [element('b', ''), element('span', '')]));
  }

  /** Shows these labels in the column of a frame. */
  showLabels(labels: readonly LabelText[], frame: Frame): void {
    const x = frame.label + (frame.stage.phone ? 9 : 8.5);
    this.element.style.setProperty('--label-width', `${clamp(frame.strip.x - 3 - x, 40, WIDEST)}px`);
    this.labels.show(labels, (l) => l.key, (node, label) => {
      const [topic, text, tag] = [...(node.firstElementChild as Element).children];
      node.style.transform = `translate(${x}px, ${(label.y - HALF_LINE - (label.second ? 7 : 0)).toFixed(1)}px)`;
      setText(topic, label.topic);
      setText(text, label.text);
      setText(tag, label.tag?.text ?? '');
      setText(node.lastElementChild as Element, label.second);
      node.className = `forest-label${label.strong ? ' strong' : ''}${label.ink ? ' ink' : ''}`;
      tag.className = label.tag ? `tag ${label.tag.tone}` : 'tag none';
    });
  }

  /** Shows the days' names at the left edge. */
  showDays(days: readonly FreeText[]): void {
    this.days.show(days, (d) => d.key, writeFree);
  }

  /** Shows names beside stations. */
  showNames(names: readonly FreeText[]): void {
    this.names.show(names, (n) => n.key, writeFree);
  }
}

function makeLabel(): HTMLElement {
  const topic = element('b', 'topic');
  const text = element('span', 'text');
  // Memory text may be in any language.
  topic.dir = text.dir = 'auto';
  return element('div', 'forest-label', [element('div', 'line', [topic, text, element('span', 'tag')]), element('div', 'second')]);
}

function writeFree(node: HTMLElement, { text, bold, x, y }: FreeText): void {
  const [first, second] = [...node.children];
  const name = node.className === 'forest-name';
  setText(first, name ? bold : text);
  setText(second, name ? text : bold);
  node.style.transform = `translate(${x.toFixed(1)}px, ${(y - HALF_LINE).toFixed(1)}px)`;
}
