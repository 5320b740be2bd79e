// E-mail through the operator's mail server.
import { Type } from '@sinclair/typebox';
import { readUrl } from '../../kernel/net/url.ts';
import { matches, problemUnless, textSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import { smtpMail } from './mail.ts';

function smtpUrlProblem(text: string): string | undefined {
  const url = readUrl(text);
  const isValid = url && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
  return problemUnless(Boolean(isValid), 'must have the form smtps://user:password@host:465');
}

const settings = Type.Object({
  smtpUrl: textSetting(
    {
      env: 'RAILHEAD_SMTP_URL',
      value: 'URL',
      help: 'mail server for production e-mail, such as smtps://user:password@host:465',
      secret: true,
    },
    smtpUrlProblem,
  ),
  mailFrom: textSetting(
    {
      env: 'RAILHEAD_MAIL_FROM',
      flag: 'mail-from',
      value: 'ADDRESS',
      help: 'sender of e-mail: an address, or Name <address>',
    },
    matches(
      /^(?:[^<>\p{Cc}]{1,100} <[^\s<>@,;"]+@[^\s<>@,;"]+>|[^\s<>@,;"]+@[^\s<>@,;"]+)$/u,
      'must be an address, or a name and the address in angle brackets',
    ),
  ),
});

export const smtp = defineConnector({
  name: 'smtp',
  description: 'Sends e-mail through a mail server.',
  modes: ['production'],
  settings,
  capabilities: ['mail'],
  problems: ({ smtpUrl, mailFrom }) =>
    smtpUrl && !mailFrom ? ['RAILHEAD_MAIL_FROM must be set when RAILHEAD_SMTP_URL is set.'] : [],
  open: ({ provider }, { smtpUrl: url, mailFrom: from }) => ({
    mail: smtpMail(provider('smtp'), { url, from }),
  }),
});
