import { describe, expect, it } from 'vitest';
import { escaped, SvgContext } from './svg';

describe('the drawing as SVG', () => {
  it('writes what is painted, with the look it had', () => {
    const ctx = new SvgContext();
    ctx.save();
    ctx.strokeStyle = '#123456';
    ctx.lineWidth = 2;
    ctx.setLineDash([3, 2.4]);
    ctx.globalAlpha = 0.5;
    ctx.beginPath();
    ctx.moveTo(0, 0);
    ctx.lineTo(10, 20);
    ctx.stroke();
    ctx.restore();
    ctx.fillRect(0, 0, 5, 5);
    const made = ctx.document(100, 50, 'Home', 'Source Sans 3');
    expect(made).toContain('<path d="M0 0L10 20" fill="none" stroke="#123456" stroke-width="2" stroke-dasharray="3 2.4" stroke-opacity="0.5"/>');
    expect(made).toContain('<rect x="0" y="0" width="5" height="5" fill="#000"/>');
    expect(made).toContain('viewBox="0 0 100 50"');
  });

  it('keeps transforms, clips and glows to what they hold for', () => {
    const ctx = new SvgContext();
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, 10, 10);
    ctx.clip();
    ctx.translate(4, 5);
    ctx.scale(2, 2);
    const glow = ctx.createRadialGradient(0, 0, 0, 0, 0, 9);
    glow.addColorStop(0, '#ffffff80');
    ctx.fillStyle = glow;
    ctx.beginPath();
    ctx.arc(0, 0, 9, 0, Math.PI * 2);
    ctx.fill();
    ctx.restore();
    ctx.fillPath('M0 0h1');
    const made = ctx.document(20, 20, 'x', 'x');
    expect(made).toMatch(/<g clip-path="url\(#clip0\)"><path d="M9 0A9 9 0 0 1 -9 0A9 9 0 0 1 9 -?0" fill="url\(#glow0\)" transform="matrix\(2 0 0 2 4 5\)"\/><\/g><path d="M0 0h1" fill="#000"\/>/);
    expect(made).toContain('<stop offset="0" stop-color="#ffffff80"/>');
  });

  it('takes no markup from a memory', () => {
    const ctx = new SvgContext();
    ctx.fillText('<script>"&"</script>', 0, 0);
    expect(ctx.document(1, 1, '</title><script>', 'x')).not.toContain('<script');
    expect(escaped('a < b & "c"')).toBe('a &lt; b &amp; &quot;c&quot;');
  });
});
