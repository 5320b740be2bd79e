// Appearance of a platform on hosted pages: its name, its color, and the logo of its
// configuration. A logo is shown only if it is loaded over https, or over http from the local
// machine in the sandbox. The file also has the default card program.

import type { PageBrand } from '../../../kernel/contract/page.ts';
import { readUrl } from '../../../kernel/net/url.ts';
import type { CardProgram, PlatformRow } from '../platform/index.ts';

type BrandedPlatform = Pick<
  PlatformRow,
  'name' | 'environment' | 'brand_color' | 'wallet_config' | 'card_config'
>;

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** URL of a logo that a page can load, or undefined for any other value. */
function configuredLogoOf(configuredUrl: unknown, isSandbox: boolean): string | undefined {
  if (typeof configuredUrl !== 'string') return undefined;
  const url = readUrl(configuredUrl);
  if (!url || url.username || url.password) return undefined;
  const isLocal = isSandbox && url.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname);
  return url.protocol === 'https:' || isLocal ? url.href : undefined;
}

function withLogo(platform: BrandedPlatform, configuredUrl: unknown): PageBrand {
  const isSandbox = platform.environment === 'sandbox';
  const logoUrl = configuredLogoOf(configuredUrl, isSandbox);
  const color = platform.brand_color;
  return {
    name: platform.name,
    isSandbox,
    ...(logoUrl === undefined ? {} : { logoUrl }),
    ...(color === null ? {} : { color }),
  };
}

export const brandOf = (platform: BrandedPlatform): PageBrand =>
  withLogo(platform, platform.wallet_config?.logoUrl);

/** The brand of card pages, which can have a separate logo. */
export const cardBrandOf = (platform: BrandedPlatform): PageBrand =>
  withLogo(platform, platform.card_config?.logoUrl ?? platform.wallet_config?.logoUrl);

export const cardProgramNameOf = ({ name, card_config }: BrandedPlatform): string =>
  typeof card_config?.displayName === 'string' && card_config.displayName !== ''
    ? card_config.displayName
    : name;

const DEFAULT_PROGRAM: CardProgram = { maxLive: 10_000, maxLivePerHolder: 10, frameOrigins: [] };

/** Card program of a platform, with defaults. */
export const cardProgramOf = ({ card_program }: PlatformRow): CardProgram =>
  card_program ?? DEFAULT_PROGRAM;
