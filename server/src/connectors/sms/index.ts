// Text messages through a service of the operator.
import { Type } from '@sinclair/typebox';
import { serviceSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import { smsBridge } from './bridge.ts';

export const sms = defineConnector({
  name: 'sms',
  description: 'Posts text messages to a service.',
  modes: ['production'],
  settings: Type.Object({
    smsUrl: serviceSetting({
      env: 'RAILHEAD_SMS_URL',
      help: 'URL of a service that sends production text messages',
      secret: true,
    }),
  }),
  capabilities: ['sms'],
  open: ({ provider }, { smsUrl }) => ({ sms: smsBridge(provider('sms'), smsUrl) }),
});
