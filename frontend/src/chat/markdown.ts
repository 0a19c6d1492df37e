/** Markdown of people and models to safe HTML, one string per top-level block, so that a growing answer only
 *  touches its last block. No raw HTML, no remote picture, links that only go to the web or to mail. */

import DOMPurify from 'dompurify';
import MarkdownIt, { type Token } from 'markdown-it';
import { coloured } from './highlight';

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
markdown.validateLink = (url) => /^(?:https?:|mailto:|#)/i.test(url.trim());

const escape = markdown.utils.escapeHtml;

const AWAY = 'target="_blank" rel="noopener noreferrer nofollow"';

markdown.renderer.rules.link_open = (tokens, index) => `<a href="${escape(String(tokens[index]!.attrGet('href') ?? ''))}" ${AWAY}>`;

// A picture becomes a link to it: nothing is fetched from elsewhere.
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index]!;
  const src = String(token.attrGet('src') ?? '');
  const name = token.content || 'picture';
  return `<a href="${escape(src)}" ${AWAY}>${escape(name)} (picture, not loaded)</a>`;
};

/** What rendering needs to know of the whole text. */
interface Env {
  growing: boolean;
  lines: string[];
}

/** A fence that is still being written would change its colours with every word. */
const isOpen = (token: Token, { growing, lines }: Env): boolean =>
  growing && token.map !== null && !/^[\s>]*(?:`{3,}|~{3,})\s*$/.test(lines[token.map[1] - 1] ?? '');

markdown.renderer.rules.fence = (tokens, index, _options, env: Env) => {
  const token = tokens[index]!;
  const language = token.info.trim().split(/\s+/)[0] ?? '';
  const code = (isOpen(token, env) ? null : coloured(token.content, language)) ?? escape(token.content);
  return `<div class="code"><div class="code-head"><span>${escape(language || 'text')}</span>` +
    `<button type="button" class="code-copy" data-copy="code">Copy</button></div>` +
    `<pre tabindex="0"><code>${code}</code></pre></div>`;
};
markdown.renderer.rules.code_block = markdown.renderer.rules.fence;
markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
markdown.renderer.rules.table_close = () => '</table></div>';

let purifier: ReturnType<typeof DOMPurify> | null = null;

/** DOMPurify needs a window, so it is made on first use. */
function purify(html: string): string {
  purifier ??= DOMPurify(window);
  return purifier.sanitize(html, {
    ALLOWED_TAGS: ['p', 'br', 'strong', 'em', 's', 'del', 'code', 'pre', 'a', 'ul', 'ol', 'li', 'blockquote', 'hr',
      'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'div', 'span', 'button'],
    ALLOWED_ATTR: ['href', 'target', 'rel', 'class', 'type', 'data-copy', 'tabindex', 'start'],
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
    // Without this the values of these are held to be addresses, and fall.
    ADD_URI_SAFE_ATTR: ['target', 'rel', 'type', 'tabindex', 'start'],
  });
}

const known = new Map<string, string>();

function remembered(html: string): string {
  const hit = known.get(html);
  if (hit !== undefined) return hit;
  const safe = purify(html);
  if (known.size > 800) known.clear();
  known.set(html, safe);
  return safe;
}

/** An answer under way ends anywhere. Marks whose meaning is still open would show as one thing and turn into another:
 *  a last line of marks only is held back, and bold or code left open is closed. */
export function settle(partial: string): string {
  const lines = partial.split('\n');
  const isFence = (line: string) => /^ {0,3}(?:```|~~~)/.test(line);
  const fences = lines.filter(isFence).length;
  if (fences % 2) return /^ {0,3}(?:`{1,2}|~{1,2})$/.test(lines.at(-1) ?? '') ? lines.slice(0, -1).join('\n') : partial;
  if (isFence(lines.at(-1) ?? '')) return partial;
  if (/^\s*(?:[-*+_=~`#>|:]+\s*)*(?:\d+[.)]?)?\s*$/.test(lines.at(-1) ?? '')) lines.pop();
  const text = lines.join('\n');
  const closed = lines.slice(0, lines.findLastIndex(isFence) + 1).join('\n').length;
  const start = Math.max(text.lastIndexOf('\n\n') + 1, closed);
  const tail = text.slice(start).replace(/!?\[[^\]\n]*\]\([^)\n]*$/, (link) => link.slice(link.indexOf('[') + 1, link.indexOf(']')));
  const settled = text.slice(0, start) + tail;
  if ((tail.match(/`/g)?.length ?? 0) % 2) return settled + '`';
  const bare = tail.replace(/`[^`]*`/g, '');
  if ((bare.match(/\*\*/g)?.length ?? 0) % 2 === 0) {
    const mark = /(?:^|[\s(“"])([*_])(?=[^\s*_])[^*_\n]*$/.exec(bare.replace(/\*\*/g, ''))?.[1];
    return mark ? settled.trimEnd() + mark : settled;
  }
  // A closing mark after a blank would not close.
  const end = settled.trimEnd();
  return end.endsWith('**') ? end.slice(0, -2) : end.replace(/\*$/, '') + '**';
}

/** The first row of a table looks like a paragraph until the next line says what it is: while an answer grows it waits for that line. */
export function withoutTableHead(growing: string): string {
  const start = growing.lastIndexOf('\n\n') + 1;
  return /^\n?\|[^\n]*\n?$/.test(growing.slice(start)) ? growing.slice(0, start) : growing;
}

/** Safe HTML of each top-level block. `growing`: the text goes on. */
export function blocks(text: string, growing = false): string[] {
  const env: Env = { growing, lines: text.split('\n') };
  const tokens = markdown.parse(text, env);
  const result: string[] = [];
  let start = 0;
  tokens.forEach((token, index) => {
    if (token.level !== 0 || token.nesting === 1) return;
    const html = markdown.renderer.render(tokens.slice(start, index + 1), markdown.options, env);
    start = index + 1;
    if (html.trim()) result.push(remembered(html));
  });
  return result;
}
