// Operations on platforms, their access and their traffic.
import type { OperatorOperation } from '../handle.ts';
import { documentOperations } from './documents.ts';
import { importOperations } from './imports.ts';
import { jobOperations } from './jobs.ts';
import { limitOperations } from './limits.ts';
import { messageOperations } from './messages.ts';
import { platformOperations } from './platforms.ts';
import { requestOperations } from './requests.ts';
import { sandboxOperations } from './sandbox.ts';
import { signingKeyOperations } from './signing-keys.ts';
import { tokenOperations } from './tokens.ts';
import { webhookEndpointOperations } from './webhook-endpoints.ts';
import { webhookOperations } from './webhooks.ts';

export const platformGroup: readonly OperatorOperation[] = [
  ...platformOperations,
  ...limitOperations,
  ...tokenOperations,
  ...signingKeyOperations,
  ...webhookOperations,
  ...webhookEndpointOperations,
  ...requestOperations,
  ...jobOperations,
  ...sandboxOperations,
  ...messageOperations,
  ...importOperations,
  ...documentOperations,
];
