// Types of the server's replies, and the interfaces of the page. The schemas are in
// page-contract.ts. The browser needs only the types.

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
  /** Fields named as in the API, including `customerType` and `id`. */
  customer: Json;
  hasIdentifier: boolean;
  owners: Owner[];
  documents: DocumentOnFile[];
  gaps: Gap[];
  /** Subset of `gaps` that a verifier reported. */
  findings: Gap[];
  /** Allowed values by field name. */
  choices: Record<string, string[]>;
  maxFileBytes: number;
  /** Present after the final decision. */
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

/** View of the page. */
export interface Step {
  key: string;
  title: string;
  /** Renders into the empty root element. */
  render(stage: Stage): void;
}

export interface Stage {
  state: State;
  root: HTMLElement;
  /** Reloads the state and shows the first view with open requirements. */
  next(): Promise<void>;
  /** Reloads the state without leaving the view. */
  reload(): Promise<State>;
  /** Shows the view of this key. */
  go(key: string): void;
  /** Announces a message to screen readers. */
  announce(message: string): void;
}
