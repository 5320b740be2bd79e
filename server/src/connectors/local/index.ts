// The document check without a provider.
import { Type } from '@sinclair/typebox';
import { defineConnector } from '../connector.ts';
import { localDocuments } from './documents.ts';

export const local = defineConnector({
  name: 'local',
  description: 'Checks documents by the structure of their files.',
  modes: ['production'],
  settings: Type.Object({}),
  capabilities: ['documents'],
  fallbackFor: ['documents'],
  open: () => ({ documents: localDocuments }),
});
