// Hosted page of an invitation, for a person without an account: the inviter, the offered amount
// and where to get a UMA address. Only the page of a pending invitation contains data of the
// invitation.

import { formatMoney } from '../../../catalog/currencies/money-format.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import type { HostedPage, LabeledValue, PageContent } from '../../../kernel/contract/page.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { brandOf } from '../../tenancy/config/index.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { INVITATION_PATH, isCode, statusOf } from './invitation.ts';
import { type InvitationRow, invitations } from './store.ts';

interface Deps {
  connectors(environment: Mode): Connectors;
}

const NOT_FOUND: PageContent = {
  status: 404,
  title: 'Invitation not found',
  lines: ['Check that the link is complete, or request a new link from the person who sent it.'],
};

const FINAL_TEXTS = {
  CLAIMED: {
    status: 410,
    title: 'This invitation was already used',
    lines: [
      'An invitation can be used once. Request a new invitation from the person who sent it.',
    ],
  },
  EXPIRED: {
    status: 410,
    title: 'This invitation has expired',
    lines: ['Request a new invitation from the person who sent it.'],
  },
  CANCELLED: {
    status: 410,
    title: 'This invitation was canceled',
    lines: ['Request a new invitation from the person who sent it.'],
  },
} as const;

function offeredAmount({ amount, currency }: InvitationRow): LabeledValue[] {
  if (amount === null || currency === null) return [];
  return [
    { label: 'Amount that the inviter intends to send', value: formatMoney({ amount, currency }) },
  ];
}

const formatTime = (time: Time) => `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;

function pendingPage(row: InvitationRow, { uma }: Connectors): PageContent {
  const providers = uma?.providers?.().filter((each) => each.isAllowed) ?? [];
  const name = row.first_name === null ? '' : `, ${row.first_name}`;
  return {
    status: 200,
    title: `You are invited${name}`,
    lines: [`${row.inviter_uma} invites you to get a UMA address, to receive money directly.`],
    details: [
      { label: 'Your invitation code', value: row.id },
      ...offeredAmount(row),
      ...(row.expires_at === null
        ? []
        : [{ label: 'Valid until', value: formatTime(row.expires_at) }]),
    ],
    notes: [
      {
        title: 'What to do next',
        lines: ['Open an account with a provider of UMA addresses, and enter the code there.'],
      },
      ...(providers.length
        ? [
            {
              title: 'Providers',
              lines: providers.map((each) => `${each.name}: ${each.domain}`),
            },
          ]
        : []),
      {
        title: 'Who receives your data',
        lines: [
          'When you use the code, the provider of the inviter receives your UMA address. No data ' +
            'is entered on this page.',
        ],
      },
    ],
  };
}

/** Page at `/i/<code>`. The page has no action, because a provider claims the invitation. */
export function invitationPage(runtime: Runtime, { connectors }: Deps): HostedPage {
  async function show(code: string): Promise<PageContent> {
    const row = isCode(code) ? await runtime.db.read(invitations, code) : undefined;
    if (!row) return NOT_FOUND;
    const platform = await readPlatform(runtime.db, row.platform_id);
    const brand = platform && brandOf(platform);
    const status = statusOf(row, await runtime.clocks.nowOf({ platformId: row.platform_id }));
    return status === 'PENDING'
      ? { ...pendingPage(row, connectors(row.environment)), brand }
      : { ...FINAL_TEXTS[status], lines: [...FINAL_TEXTS[status].lines], brand };
  }
  return { path: INVITATION_PATH, show, confirm: show };
}
