// The status a new person starts in on platforms that do their own compliance, in the sandbox: the last
// three characters of the full name decide. Businesses are decided by their first submission instead, so
// they all start unverified. The table is the sandbox's documentation of these endings.
import type { IdentityPort } from '../ports.ts';

type Status = ReturnType<IdentityPort['atCreation']>;

export const STATUS_BY_SUFFIX: Readonly<Record<string, Status>> = {
  '001': 'PENDING',
  '002': 'REJECTED',
  '003': 'UNVERIFIED',
};

const OTHERWISE: Status = 'APPROVED';

export const sandboxIdentity: IdentityPort = {
  atCreation({ type, fullName }) {
    if (type === 'BUSINESS') return 'UNVERIFIED';
    return STATUS_BY_SUFFIX[(fullName ?? '').slice(-3)] ?? OTHERWISE;
  },
};
