// The page behind an invitation's link, for somebody who has no account anywhere yet: who invites, what
// awaits, and where to get a UMA address. It shows what the platform wrote into the invitation and nothing
// else of anybody; an invitation that is over shows nobody at all.
import { currencyOf } from '../../catalog/currencies.ts';
import type { Connectors } from '../../connectors/ports.ts';
import { readable } from '../../kernel/money.ts';
import type { HostedPage, PageContent } from '../../kernel/page.ts';
import { iso, type Time } from '../../kernel/world.ts';
import type { Environment } from '../../runtime/context.ts';
import type { Runtime } from '../../runtime/operate.ts';
import { INVITATION_PATH, statusOf } from './invitation.ts';
import { type InvitationRow, invitations } from './store.ts';

interface Parts {
  connectors(environment: Environment): Connectors;
}

const UNKNOWN: PageContent = {
  status: 404,
  title: 'We do not know this invitation',
  lines: ['Check that the link is complete, or ask whoever sent it for a new one.'],
};

const OVER = {
  CLAIMED: {
    status: 410,
    title: 'This invitation was used',
    lines: ['It was accepted before, and works only once.'],
  },
  EXPIRED: {
    status: 410,
    title: 'This invitation has expired',
    lines: ['Ask whoever sent it for a new one.'],
  },
  CANCELLED: {
    status: 410,
    title: 'This invitation was withdrawn',
    lines: ['Whoever sent it has taken it back.'],
  },
} as const;

function promise({ amount, currency, inviter_uma: inviter }: InvitationRow): string {
  const invites = `${inviter} invites you to get a UMA address, to which money can be sent.`;
  if (amount === null || currency === null) return invites;
  const money = `${readable(amount, currencyOf(currency).decimals)} ${currency}`;
  return `${invites} They mean to send you ${money} then.`;
}

const until = (time: Time) => `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;

function open(row: InvitationRow, { uma }: Connectors): PageContent {
  const providers = uma?.providers?.().filter((each) => each.allowed) ?? [];
  return {
    status: 200,
    title: row.first_name === null ? 'You are invited' : `You are invited: ${row.first_name}`,
    lines: [
      promise(row),
      `Your code: ${row.id}`,
      'Open an account at a provider of UMA addresses and give it this code.',
      ...providers.map(({ name, domain }) => `${name}: ${domain}`),
      ...(row.expires_at === null ? [] : [`Open until ${until(row.expires_at)}.`]),
    ],
  };
}

/** The page at `/i/<code>`. It has no button: an invitation is claimed by a provider. */
export function invitationPage(runtime: Runtime, { connectors }: Parts): HostedPage {
  async function show(code: string): Promise<PageContent> {
    const row = /^[0-9a-f]{8}$/.test(code) ? await runtime.db.read(invitations, code) : undefined;
    if (!row) return UNKNOWN;
    const status = statusOf(row, runtime.world.now());
    return status === 'PENDING'
      ? open(row, connectors(row.environment))
      : { ...OVER[status], lines: [...OVER[status].lines] };
  }
  return { path: INVITATION_PATH, show, press: show };
}
