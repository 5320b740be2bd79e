// The brand of a platform on hosted pages.
import { describe, expect, it } from 'vitest';
import { brandOf, cardBrandOf, cardProgramNameOf } from './brand.ts';

const ROW = {
  name: 'Shop',
  environment: 'production',
  brand_color: null,
  wallet_config: null,
  card_config: null,
} as const;

const logoOf = (logoUrl: unknown, environment: 'sandbox' | 'production' = 'production') =>
  brandOf({ ...ROW, environment, wallet_config: { logoUrl } }).logoUrl;

describe('the brand of a platform', () => {
  it('contains its name, its environment and its color', () => {
    expect(brandOf(ROW)).toEqual({ name: 'Shop', isSandbox: false });
    expect(brandOf({ ...ROW, environment: 'sandbox', brand_color: '#3b49df' })).toEqual({
      name: 'Shop',
      isSandbox: true,
      color: '#3b49df',
    });
  });

  it('has a logo over https, and over http from the local machine in the sandbox', () => {
    const logo = 'https://shop.example/logo.png';
    expect(logoOf(logo)).toBe(logo);
    for (const localUrl of ['http://localhost:3000/l.png', 'http://127.0.0.1/l.png']) {
      expect(logoOf(localUrl, 'sandbox')).toBe(localUrl);
      expect(logoOf(localUrl)).toBeUndefined();
    }
  });

  it.each([
    'http://shop.example/logo.png',
    'ftp://shop.example/logo.png',
    'data:image/png;base64,AAAA',
    'javascript:alert(1)',
    'https://user:secret@shop.example/logo.png',
    'logo.png',
    '',
    7,
    undefined,
  ])('has no logo for the URL %s', (logoUrl) => {
    expect(logoOf(logoUrl, 'sandbox')).toBeUndefined();
  });

  it('has another logo and name on card pages if configured', () => {
    const wallet_config = { logoUrl: 'https://shop.example/wallet.png' };
    const card_config = { logoUrl: 'https://shop.example/card.png', displayName: 'Shop card' };
    expect(cardBrandOf({ ...ROW, wallet_config }).logoUrl).toBe(wallet_config.logoUrl);
    expect(cardBrandOf({ ...ROW, wallet_config, card_config }).logoUrl).toBe(card_config.logoUrl);
    expect(brandOf({ ...ROW, wallet_config, card_config }).logoUrl).toBe(wallet_config.logoUrl);
    expect([ROW, { ...ROW, card_config }].map(cardProgramNameOf)).toEqual(['Shop', 'Shop card']);
  });
});
