// The page that shows number and security code to the cardholder, once. A commit consumes the link
// and records the view before the issuer is called, so only one of several concurrent requests
// reads the details. If the issuer does not respond, the link is restored. After a crash before the
// restoration the link remains consumed, and the platform creates another link.

import type { CardDetails } from '../../../connectors/ports/cards.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { type HostedPage, LINK_EXPIRED, type PageContent } from '../../../kernel/contract/page.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { createContext } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { cardBrandOf, cardProgramNameOf, cardProgramOf } from '../../tenancy/config/index.ts';
import { type PlatformRow, readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { cardReveals } from '../store.ts';
import { consumeLink, REVEAL_PATH, restoreLink } from './reveal.ts';

interface Deps {
  connectors(environment: Mode): Connectors;
  /** Logs a problem if the issuer does not respond. */
  reportProblem(problem: string): void;
}

/** Time for which the page shows the details. */
const HIDE_AFTER_S = 5 * 60;

const UNAVAILABLE_PAGE: PageContent = {
  status: 503,
  title: 'The card cannot be shown at the moment',
  lines: ['The details were not shown, and the link remains valid. Open it again in a minute.'],
};

const formatInFours = (number: string): string => number.replace(/\d{4}(?=\d)/g, '$& ');

const monthOf = ({ expMonth, expYear }: CardDetails): string =>
  `${String(expMonth).padStart(2, '0')}/${String(expYear).slice(-2)}`;

/** Without `details`, the page for HEAD requests. */
const pageOf = (
  details: CardDetails | null,
  name: string,
  network: string | null,
): PageContent => ({
  status: 200,
  title: 'Your card',
  lines: ['These details are shown once. Anyone who sees them can pay with the card.'],
  card: {
    name,
    network: network ?? '',
    details: details
      ? [
          { label: 'Card number', value: formatInFours(details.number) },
          { label: 'Valid until', value: monthOf(details) },
          { label: 'Security code', value: details.code },
        ]
      : [],
    hideAfterS: HIDE_AFTER_S,
  },
});

export function revealPage(runtime: Runtime, { connectors, reportProblem }: Deps): HostedPage {
  async function contentOf(linkId: string, platform: PlatformRow): Promise<PageContent> {
    const { id: platformId, environment } = platform;
    const { issuer } = connectors(environment);
    if (!issuer) return LINK_EXPIRED;
    const caller = systemCaller(platformId, environment);
    const card = await operate(runtime, caller, (ctx) => consumeLink(ctx, linkId));
    if (!card) return LINK_EXPIRED;
    // An error of the issuer is not logged, because its text may contain the details.
    const { id: cardId, secret, brand } = card;
    const details = await issuer.details({ cardId, secret }).catch(() => undefined);
    if (details) return pageOf(details, cardProgramNameOf(platform), brand);
    await operate(runtime, caller, (ctx) => restoreLink(ctx, linkId));
    reportProblem(`the issuer did not show ${cardId}`);
    return UNAVAILABLE_PAGE;
  }

  /** The same page without the card's details and without a commit. */
  async function previewOf(linkId: string, platform: PlatformRow): Promise<PageContent> {
    const { id: platformId, environment } = platform;
    if (!connectors(environment).issuer) return LINK_EXPIRED;
    const caller = systemCaller(platformId, environment);
    const ctx = createContext(runtime, caller, await runtime.clocks.timeOf(caller));
    const card = await consumeLink(ctx, linkId);
    return card ? pageOf(null, cardProgramNameOf(platform), card.brand) : LINK_EXPIRED;
  }

  const pageWith = (content: typeof contentOf) => async (secret: string) => {
    const linkId = sha256Hex(secret);
    const link = await runtime.db.read(cardReveals, linkId);
    const platform = link && (await readPlatform(runtime.db, link.platform_id));
    if (!platform) return LINK_EXPIRED;
    // Pages of the platform may also frame the message that the link is no longer valid.
    const frames = cardProgramOf(platform).frameOrigins;
    return { ...(await content(linkId, platform)), frames, brand: cardBrandOf(platform) };
  };
  return {
    path: REVEAL_PATH,
    singleUse: true,
    show: pageWith(contentOf),
    preview: pageWith(previewOf),
  };
}
