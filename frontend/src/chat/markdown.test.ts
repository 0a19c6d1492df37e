// @vitest-environment happy-dom
import { beforeAll, describe, expect, it } from 'vitest';
import { coloured, loadLanguages } from './highlight';
import { blocks, settle, withoutTableHead } from './markdown';

function page(text: string): HTMLElement {
  const root = document.createElement('div');
  root.innerHTML = blocks(text).join('');
  return root;
}

describe('markdown is safe', () => {
  it.each([
    '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<svg onload=alert(1)>', '<a href="javascript:alert(1)">x</a>', '<style>*{}</style>',
    '<iframe srcdoc="x"></iframe>', '<form action=/x><input name=q></form>', '<p style="position:fixed">x</p>', '<math><mi xlink:href="data:x,1">',
  ])('shows %s as text', (attack) => {
    const root = page(`before ${attack} after`);
    expect(root.querySelectorAll('script, img, svg, style, iframe, form, input, math, [style], [onerror], [onload]')).toHaveLength(0);
    expect([...root.querySelectorAll('*')].flatMap((element) => [...element.attributes]).filter((attribute) => /^on|style/i.test(attribute.name))).toEqual([]);
    expect(root.textContent).toContain(attack);
  });

  it.each(['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'vbscript:x', 'data:text/html,<script>1</script>', 'file:///etc/passwd', '//evil.test/x', '\u0001javascript:alert(1)'])(
    'makes no link of %s', (href) => {
      const links = [...page(`[click](${href}) <${href}>`).querySelectorAll('a')];
      expect(links.map((link) => link.getAttribute('href') ?? '').filter((value) => !/^(https?:|mailto:)/i.test(value))).toEqual([]);
    },
  );

  it('loads no picture: it becomes a link to it', () => {
    const root = page('![a cat](https://pictures.test/cat.png)');
    expect(root.querySelector('img')).toBeNull();
    expect(root.querySelector('a')?.getAttribute('href')).toBe('https://pictures.test/cat.png');
    expect(root.textContent).toContain('a cat (picture, not loaded)');
  });

  it('links lead away in a tab of their own, without telling where from', () => {
    const link = page('see https://trees.test/oak').querySelector('a')!;
    expect(link.getAttribute('target')).toBe('_blank');
    expect(link.getAttribute('rel')).toContain('noreferrer');
  });

  it('escapes the language and the text of a code fence', () => {
    const root = page('```"><img/src=x>\n</code><script>1</script>\n```');
    expect(root.querySelectorAll('img, script')).toHaveLength(0);
    expect(root.querySelector('code')?.textContent).toBe('</code><script>1</script>\n');
  });
});

describe('an answer under way', () => {
  const answer = 'The hood **recirculates**:\n\n- drawers\n- hob\n\n```py\nx = 1\n\ny = 2\n```\n\nSee [the plan](https://plan.test/a).';

  it('only ever changes its last block', () => {
    let before: string[] = [];
    for (let end = 1; end <= answer.length; end++) {
      const now = blocks(settle(answer.slice(0, end)));
      expect(now.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      if (now.length >= before.length) before = now;
    }
    expect(before).toEqual(blocks(answer));
  });

  it('never makes a heading of a paragraph because a list begins under it', () => {
    expect(blocks(settle('Two things:\n-'))).toEqual(blocks('Two things:'));
    expect(blocks(settle('Two things:\n--'))).toEqual(blocks('Two things:'));
  });

  it('shows bold and code before they are closed, without their marks', () => {
    expect(page(settle('It **recirc')).innerHTML).toContain('<strong>recirc</strong>');
    expect(page(settle('Use `npm ci')).innerHTML).toContain('<code>npm ci</code>');
    expect(page(settle('**The ')).innerHTML).toContain('<strong>The</strong>');
    expect(page(settle('It **')).textContent!.trim()).toBe('It');
    expect(page(settle('It **recirculates*')).innerHTML).toContain('<strong>recirculates</strong>');
  });

  it('shows emphasis before it is closed, and takes no list, sum or name for it', () => {
    expect(page(settle('It is *very')).innerHTML).toContain('<em>very</em>');
    expect(page(settle('It is _very ')).innerHTML).toContain('<em>very</em>');
    for (const plain of ['* a list', 'so 2 * 3', 'the snake_case', 'the **bold** word', 'a * b *']) expect(settle(plain)).toBe(plain);
  });

  it('shows the words of a picture that is being written, not its marks', () => {
    expect(page(settle('See ![a cat](https://pic')).textContent!.trim()).toBe('See a cat');
  });

  it('waits with the first row of a table until it is one', () => {
    const table = 'Prices:\n\n| what | price |\n|---|---|\n| oak | 90 |';
    for (let end = 10; end <= table.length; end++) {
      const shown = page(withoutTableHead(settle(table.slice(0, end)))).textContent!;
      expect(shown).not.toContain('|');
    }
    expect(withoutTableHead('A | B')).toBe('A | B');
  });

  it('reads no marks of code as marks of the text', () => {
    const text = 'So:\n```py\nx = a[1](b ** c)\n```';
    expect(settle(text)).toBe(text);
    expect(settle(`${text}\nthen`)).toBe(`${text}\nthen`);
    expect(page(settle(`${text}\nis **bold`)).innerHTML).toContain('<strong>bold</strong>');
  });

  it('keeps an open fence a fence', () => {
    expect(page(settle('```py\nprint(1)\n``')).querySelector('code')?.textContent).toBe('print(1)');
    expect(page(settle('```py\nfoo**bar\n')).querySelector('code')?.textContent?.trim()).toBe('foo**bar');
  });
});

describe('code in colour', () => {
  const python = '```python\ndef add(a):\n    return "sum" # done\n```';

  it('is plain until the languages are here', async () => {
    expect(page(python).querySelector('code span')).toBeNull();
    await loadLanguages();
    const root = page(python);
    expect([...root.querySelectorAll('code span')].map((span) => span.className)).toContain('hljs-keyword');
    expect(root.querySelector('code')!.textContent).toBe('def add(a):\n    return "sum" # done\n');
  });

  describe('with the languages', () => {
    beforeAll(loadLanguages);

    it.each(['text', 'nosuchlanguage', ''])('leaves %s plain', (name) => {
      expect(page(`\`\`\`${name}\ndef x\n\`\`\``).querySelector('code span')).toBeNull();
    });

    it('waits for the end of a fence that is being written', () => {
      const shown = (text: string) => blocks(settle(text), true).join('');
      for (let end = 12; end < python.length - 3; end++) expect(shown(python.slice(0, end))).not.toContain('hljs');
      expect(shown(python)).toContain('hljs-keyword');
      expect(shown('> ```py\n> x = "a"\n> ```\n')).toContain('hljs-string');
      expect(shown('```py\nx = "a"\n')).not.toContain('hljs');
      expect(blocks('```py\nx = "a"\n').join('')).toContain('hljs-string');
    });

    it('escapes what it colours, and brings nothing but classes', () => {
      for (const name of ['html', 'js', 'css', 'yaml', 'php', 'markdown']) {
        const attack = '</code></pre><img src=x onerror=alert(1)><script>alert(2)</script><p style="color:red" onclick="x()">';
        const root = page(`\`\`\`${name}\n${attack}\n\`\`\``);
        expect(root.querySelectorAll('img, script, p, [style], [onclick], [onerror]')).toHaveLength(0);
        expect(root.querySelector('code')!.textContent).toBe(attack + '\n');
        expect([...root.querySelectorAll('code *')].flatMap((element) => element.getAttributeNames()).filter((one) => one !== 'class')).toEqual([]);
      }
    });

    it('leaves very long code plain', () => {
      expect(coloured('x = 1\n'.repeat(10_000), 'python')).toBeNull();
    });
  });
});
