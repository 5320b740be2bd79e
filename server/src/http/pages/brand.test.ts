// The accent of every brand color is readable. The style sheet has each color, length and radius from the
// tokens.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accentsOf, contrast, DARK_SURFACE, LIGHT_GROUND } from './brand.ts';

const read = (name: string) => readFileSync(path.join(import.meta.dirname, 'page', name), 'utf8');
const tokens = read('tokens.css');
const [light = '', dark = ''] = tokens.split('@media (prefers-color-scheme: dark)');

const tokenIn = (theme: string, name: string) =>
  new RegExp(`--${name}: (?:var\\(--[\\w-]+, )?(#[0-9a-f]{6})`).exec(theme)?.[1] ?? '';

const anyColor = fc
  .integer({ min: 0, max: 0xffffff })
  .map((n) => `#${n.toString(16).padStart(6, '0')}`);

describe('contrast', () => {
  it('follows the formula of WCAG', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrast('#ffffff', '#777777')).toBeCloseTo(4.48, 2);
    expect(contrast('#3b49df', '#3b49df')).toBe(1);
  });
});

describe('a brand color', () => {
  it('reaches 4.5:1 as text and as background of text in both themes', () => {
    fc.assert(
      fc.property(anyColor, (color) => {
        const accents = accentsOf(color);
        for (const [theme, accent] of [
          [light, accents.light],
          [dark, accents.dark],
        ] as const) {
          for (const token of ['ground', 'surface', 'on-accent']) {
            expect(contrast(accent, tokenIn(theme, token))).toBeGreaterThanOrEqual(4.5);
          }
        }
      }),
    );
  });

  it('is unchanged if it is readable', () => {
    expect(accentsOf('#3b49df').light).toBe('#3b49df');
    expect(accentsOf('#ffe500').dark).toBe('#ffe500');
    expect(accentsOf('#ffe500').light).not.toBe('#ffe500');
  });

  it('is measured on surfaces of the tokens', () => {
    expect(tokenIn(light, 'ground')).toBe(LIGHT_GROUND);
    expect(tokenIn(dark, 'surface')).toBe(DARK_SURFACE);
  });
});

describe('the tokens', () => {
  it.each([
    ['light', light],
    ['dark', dark],
  ])('have readable pairs of colors (%s)', (_name, theme) => {
    const pairs = [
      ['text', 'ground'],
      ['text', 'surface'],
      ['text', 'divider'],
      ['text-soft', 'ground'],
      ['text-soft', 'surface'],
      ['accent', 'ground'],
      ['accent', 'surface'],
      ['on-accent', 'accent'],
      ['bad', 'bad-ground'],
      ['bad', 'ground'],
      ['bad', 'surface'],
      ['good', 'good-ground'],
      ['caution', 'caution-ground'],
    ] as const;
    const ratios = pairs.map(([text, ground]) => ({
      pair: `${text} on ${ground}`,
      ratio: contrast(tokenIn(theme, text), tokenIn(theme, ground)),
    }));
    expect(ratios.filter(({ ratio }) => !(ratio >= 4.5))).toEqual([]);
    // The border of a field (WCAG 1.4.11).
    expect(contrast(tokenIn(theme, 'border'), tokenIn(theme, 'surface'))).toBeGreaterThanOrEqual(3);
  });

  it('are the only source of colors, lengths and radii', () => {
    const rules = read('page.css').replace(/\/\*[\s\S]*?\*\//g, '');
    const literalPattern = /#[0-9a-f]{3,8}\b|\b(rgb|hsl)a?\(|\d(px|rem|em|ms)\b|border-radius: \d/i;
    const lines = rules.split('\n').filter((line) => !line.startsWith('@media'));
    expect(lines.filter((line) => literalPattern.test(line))).toEqual([]);
  });
});
