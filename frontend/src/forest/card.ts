import { leafIcon } from './leaf-icon';
import { countWords, whenWords } from './words';
import type { Placed } from './layout';
import type { Stage } from './camera';

/** What the page may add to a hover card once it knows: the answer's first lines, and how often it was used. */
export interface HoverMore {
  text?: string;
  branch?: string;
  used?: number;
}

const WIDTH = 300;

/** The card that shows a state under the pointer. All of its words are text, never markup. */
export class HoverCard {
  readonly element = document.createElement('div');
  private readonly crumb = this.part('crumb');
  private readonly title = this.part('title');
  private readonly body = this.part('body');
  private readonly facts = this.part('facts');
  private shown = -1;

  constructor() {
    this.element.className = 'forest-card';
    this.element.hidden = true;
    this.element.setAttribute('aria-hidden', 'true');
    this.title.dir = this.body.dir = 'auto';
  }

  /** Shows a state beside its place. */
  show(state: Placed, x: number, y: number, stage: Stage, zone: string): void {
    const { row } = state;
    this.shown = row.id;
    const topic = document.createElement('b');
    topic.dir = 'auto';
    topic.textContent = state.topic || 'New topic';
    const time = document.createElement('time');
    time.textContent = whenWords(row.time, zone);
    this.crumb.replaceChildren(leafIcon(state.colour, state.leaf), topic, time);
    this.title.textContent = row.label;
    this.body.textContent = row.entities.join(', ');
    this.body.hidden = !row.entities.length;
    this.chips(row.facts ? [countWords(row.facts, 'fact')] : [], row.list);
    this.element.hidden = false;
    this.place(x, y, stage);
  }

  /** Adds what came later, if the card still shows that state. */
  add(id: number, more: HoverMore | null | undefined, x: number, y: number, stage: Stage): void {
    if (!more || this.shown !== id || this.element.hidden) return;
    if (more.text) {
      this.body.textContent = more.text;
      this.body.hidden = false;
    }
    if (more.branch) {
      const branch = document.createElement('span');
      branch.textContent = more.branch;
      this.crumb.insertBefore(branch, this.crumb.lastChild);
    }
    if (more.used) {
      this.facts.append(this.chip(`used ${countWords(more.used, 'time')} since`));
      this.facts.hidden = false;
    }
    this.place(x, y, stage);
  }

  hide(): void {
    this.shown = -1;
    this.element.hidden = true;
    for (const part of [this.crumb, this.title, this.body, this.facts]) part.replaceChildren();
  }

  private chips(words: string[], list: number): void {
    if (list) words.push(`list of ${list}`);
    this.facts.replaceChildren(...words.map((w) => this.chip(w)));
    this.facts.hidden = !words.length;
  }

  private chip(text: string): HTMLElement {
    const chip = document.createElement('span');
    chip.textContent = text;
    return chip;
  }

  private part(className: string): HTMLElement {
    const part = document.createElement('div');
    part.className = className;
    this.element.append(part);
    return part;
  }

  /** Beside the row and never over the node: right of it, else left, else below. */
  private place(x: number, y: number, stage: Stage): void {
    const height = this.element.offsetHeight;
    let left = x + 46;
    let top = y - 22;
    if (left + WIDTH > stage.width - 8) left = x - 34 - WIDTH;
    if (left < 8) {
      left = Math.max(8, Math.min(x - WIDTH / 2, stage.width - WIDTH - 8));
      top = y + 18 + height > stage.height - 8 ? y - 18 - height : y + 18;
    } else top = Math.max(8, Math.min(top, stage.height - height - 8));
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}
