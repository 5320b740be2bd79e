// The replies of the server as the page reads them, and the parts of the page. The schemas are in
// page-contract.ts; a browser needs only their shapes.

import type { Json } from './json.ts';

export type { Json };

export interface Gap {
  resourceId: string;
  type: string;
  reason: string;
  field?: string;
  acceptedDocumentTypes?: string[];
}

export interface Owner {
  id: string;
  roles: string[];
  ownershipPercentage: number;
  personalInfo: Json;
}

export interface DocumentOnFile {
  id: string;
  documentHolder: string;
  documentType: string;
  side?: string;
  country: string;
  documentNumber?: string;
  issuingAuthority?: string;
  fileName: string;
}

export type CheckStatus = 'UNVERIFIED' | 'PENDING' | 'HOLD' | 'APPROVED' | 'REJECTED';

export interface State {
  platformName: string;
  isTest: boolean;
  expiresAt: string;
  status: CheckStatus;
  /** Fields named as the API names them, `customerType` and `id` among them. */
  customer: Json;
  hasIdentifier: boolean;
  owners: Owner[];
  documents: DocumentOnFile[];
  gaps: Gap[];
  /** Those of `gaps` that a check found. */
  findings: Gap[];
  /** What may be chosen, by the name of the field. */
  choices: Record<string, string[]>;
  maxFileBytes: number;
  /** Present once the check is over. */
  redirectUri?: string;
}

export interface Outcome {
  verificationStatus: string;
  errors: Gap[];
  redirectUri?: string;
}

export interface FieldError {
  field: string;
  message: string;
  constraint?: { pattern?: string; format?: string; enum?: string[] };
}

/** One screen of the page. */
export interface Step {
  key: string;
  title: string;
  /** Fills the screen, which is empty. */
  render(stage: Stage): void;
}

export interface Stage {
  state: State;
  root: HTMLElement;
  /** Reads the state again, and shows the first view that is still needed. */
  next(): Promise<void>;
  /** Reads the state again without leaving the view. */
  reload(): Promise<State>;
  /** Shows the screen of this key. */
  go(key: string): void;
  /** Announces a message to screen readers. */
  announce(message: string): void;
}
