// `platform set --brand-color`: the colour of a platform's hosted pages. Every colour is accepted, because
// pages use a readable shade of it; the operator is shown which.
import { accentsOf } from '../../http/pages/brand.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';

export const BRAND_COLOR_FLAG: Flags = {
  'brand-color': {
    value: '#RRGGBB',
    help: 'Colour of hosted pages, darkened or lightened for contrast; or default (default)',
  },
};

/** The colour after a call: null for the default, undefined where the call names none. */
export function brandColorIn(given: Given): string | null | undefined {
  const text = given.text('brand-color')?.toLowerCase();
  if (text === undefined) return undefined;
  if (text === 'default') return null;
  if (!/^#[0-9a-f]{6}$/.test(text)) {
    throw usageError('--brand-color takes six hexadecimal digits like #3b49df, or default');
  }
  return text;
}

/** The colour with the shades that pages use. */
export function brandColorLine(color: string): string {
  const { light, dark } = accentsOf(color);
  return `${color} (${light} on light pages, ${dark} on dark pages)`;
}
