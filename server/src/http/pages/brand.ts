// Converts the color of a platform to a readable accent. Any color is accepted. The color is darkened for
// light pages and lightened for dark pages, until text has the contrast of WCAG AA on every surface.
import type { PageBrand } from '../../kernel/contract/page.ts';

type Rgb = readonly [number, number, number];

/** Surfaces of page/tokens.css on which the accent has the least contrast. */
export const LIGHT_GROUND = '#f6f7f9';
export const DARK_SURFACE = '#1a202a';

/** Minimum contrast of text of normal size (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5;
const SHARE_STEP = 0.02;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

const rgbOf = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

const hexOf = (rgb: Rgb): string =>
  `#${rgb.map((each) => Math.round(each).toString(16).padStart(2, '0')).join('')}`;

/** A channel without its gamma, 0 to 1. */
function linearChannel(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function luminance(hex: string): number {
  const [r, g, b] = rgbOf(hex);
  return 0.2126 * linearChannel(r) + 0.7152 * linearChannel(g) + 0.0722 * linearChannel(b);
}

/** The contrast ratio of two colors, 1 to 21. */
export function contrast(color: string, otherColor: string): number {
  const [low, high] = [luminance(color), luminance(otherColor)].sort((a, b) => a - b);
  return ((high as number) + 0.05) / ((low as number) + 0.05);
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const mixChannel = (index: 0 | 1 | 2) => from[index] + (to[index] - from[index]) * share;
  return [mixChannel(0), mixChannel(1), mixChannel(2)];
}

function readableColor(color: string, surface: string, target: Rgb): string {
  for (let share = 0; share < 1; share += SHARE_STEP) {
    const candidate = hexOf(mix(rgbOf(color), target, share));
    if (contrast(candidate, surface) >= MIN_CONTRAST) return candidate;
  }
  return hexOf(target);
}

/** The accents derived from a color `#rrggbb`, for light and for dark pages. */
export const accentsOf = (color: string): { light: string; dark: string } => ({
  light: readableColor(color, LIGHT_GROUND, BLACK),
  dark: readableColor(color, DARK_SURFACE, WHITE),
});

/** The style that overrides the default accent. Empty without a brand color. */
export function brandStyle(brand: PageBrand | undefined): string {
  if (!brand?.color || !/^#[0-9a-f]{6}$/.test(brand.color)) return '';
  const { light, dark } = accentsOf(brand.color);
  return `:root{--brand-light:${light};--brand-dark:${dark}}`;
}
