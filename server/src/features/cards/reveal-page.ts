// The page that shows a card's number and code to its holder, once. The link is taken in a commit before
// the issuer is asked, so that of any two who open it at once one alone makes the issuer say anything,
// and whatever was said is on record. An issuer that does not answer has shown nothing: the link is given
// back and is as good as before. A server that dies between the two has used it up, and the record says
// more than was seen, which is the side to err on; the platform asks for another link.
import type { Connectors } from '../../connectors/ports.ts';
import type { CardDetails } from '../../connectors/ports-cards.ts';
import { type HostedPage, LINK_ENDED, type PageContent } from '../../kernel/page.ts';
import type { Environment } from '../../runtime/context.ts';
import { sha256Hex } from '../../runtime/crypto.ts';
import { operate, type Runtime } from '../../runtime/operate.ts';
import { cardProgramOf, platforms, systemCaller } from '../platform/index.ts';
import { giveLinkBack, REVEAL_PATH, takeLink } from './reveal.ts';
import { cardReveals } from './store.ts';

interface Parts {
  connectors(environment: Environment): Connectors;
  /** Told of an issuer that does not answer. */
  note(problem: string): void;
}

const NOT_NOW: PageContent = {
  status: 503,
  title: 'The card cannot be shown just now',
  lines: ['Nothing was shown, and the link still works. Open it again in a moment.'],
};

const inFours = (number: string): string => number.replace(/\d{4}(?=\d)/g, '$& ');

const monthOf = ({ expMonth, expYear }: CardDetails): string =>
  `${String(expMonth).padStart(2, '0')}/${String(expYear).slice(-2)}`;

const pageOf = (details: CardDetails): PageContent => ({
  status: 200,
  title: 'Your card',
  lines: ['This is shown once. Whoever sees it can pay with the card.'],
  facts: [
    { label: 'Card number', value: inFours(details.number) },
    { label: 'Valid until', value: monthOf(details) },
    { label: 'Security code', value: details.code },
  ],
});

export function revealPage(runtime: Runtime, { connectors, note }: Parts): HostedPage {
  async function contentOf(linkId: string, platformId: string, environment: Environment) {
    const { issuer } = connectors(environment);
    if (!issuer) return LINK_ENDED;
    const caller = systemCaller(platformId, environment);
    const card = await operate(runtime, caller, (ctx) => takeLink(ctx, linkId));
    if (!card) return LINK_ENDED;
    // What the issuer throws is told to nobody: it may quote what it was to show.
    const { id: cardId, secret } = card;
    const details = await issuer.details({ cardId, secret }).catch(() => undefined);
    if (details) return pageOf(details);
    await operate(runtime, caller, (ctx) => giveLinkBack(ctx, linkId));
    note(`the issuer did not show ${cardId}`);
    return NOT_NOW;
  }

  async function show(secret: string): Promise<PageContent> {
    const linkId = sha256Hex(secret);
    const link = await runtime.db.read(cardReveals, linkId);
    const platform = link && (await runtime.db.read(platforms, link.platform_id));
    if (!platform) return LINK_ENDED;
    // The frame around it also says that a link has ended.
    const frames = cardProgramOf(platform).frameOrigins;
    return { ...(await contentOf(linkId, platform.id, platform.environment)), frames };
  }
  return { path: REVEAL_PATH, once: true, show };
}
