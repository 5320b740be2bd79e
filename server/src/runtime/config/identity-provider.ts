// Settings of the identity provider at which operators sign in. The groups of the provider are mapped to
// roles: `payments-admins=administrator;payments-ops=support+treasury`.
import {
  OPERATOR_ROLE_NAMES,
  type OperatorRole,
} from '../../kernel/contract/operator-permissions.ts';
import { problemUnless } from '../../kernel/settings.ts';

export interface IdentityProviderSettings {
  /** The issuer in the tokens of the provider. */
  issuer: string;
  clientId: string;
  /** Absent for a public client. */
  clientSecret?: string | undefined;
  /** Roles of each group. */
  roles: ReadonlyMap<string, readonly OperatorRole[]>;
  /** Claim that contains the groups of a user. */
  groupsClaim: string;
}

const MAX_GROUPS = 100;

/**
 * Roles by group. The last `=` separates group and roles, because names of groups can contain `=`.
 */
export function groupRolesOf(text: string): ReadonlyMap<string, readonly OperatorRole[]> {
  const entries = text.split(';').map((entry): [string, OperatorRole[]] => {
    const separatorIndex = entry.lastIndexOf('=');
    const names = entry.slice(separatorIndex + 1).split('+');
    // `groupRolesProblem` rejects other names.
    return [
      entry.slice(0, Math.max(separatorIndex, 0)).trim(),
      names.map((name) => name.trim() as OperatorRole),
    ];
  });
  return new Map(entries);
}

/** The error of a string that maps groups to roles. */
export function groupRolesProblem(text: string): string | undefined {
  const count = text.split(';').length;
  const groups = groupRolesOf(text);
  const isRole = (role: OperatorRole) => OPERATOR_ROLE_NAMES.includes(role);
  const areRoles = [...groups.values()].every((roles) => roles.every(isRole));
  const isValid = areRoles && !groups.has('') && groups.size === count && count <= MAX_GROUPS;
  return problemUnless(
    isValid,
    `must map different groups to roles, at most ${MAX_GROUPS} groups, such as ` +
      'admins=administrator;ops=support+treasury. Roles are ' +
      OPERATOR_ROLE_NAMES.join(', '),
  );
}

const PREFIX = 'RAILHEAD_OPERATOR_OIDC_';

const REQUIRED_NAMES = ['ISSUER', 'CLIENT_ID', 'ROLES'] as const;

/** The identity provider of valid settings. Undefined without its required settings. */
export function identityProviderOf(
  values: ReadonlyMap<string, string>,
): IdentityProviderSettings | undefined {
  const text = (name: string) => values.get(`${PREFIX}${name}`);
  const [issuer, clientId, roles] = REQUIRED_NAMES.map(text);
  if (issuer === undefined || clientId === undefined || roles === undefined) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: text('CLIENT_SECRET'),
    roles: groupRolesOf(roles),
    groupsClaim: text('GROUPS') ?? 'groups',
  };
}

/** The error if only some of the settings are present. */
export function identityProviderProblem(values: ReadonlyMap<string, string>): string | undefined {
  const isSet = (name: string) => values.has(`${PREFIX}${name}`);
  const isAnySet = [...REQUIRED_NAMES, 'CLIENT_SECRET', 'GROUPS'].some(isSet);
  if (!isAnySet || REQUIRED_NAMES.every(isSet)) return undefined;
  const [issuerName, clientName, rolesName] = REQUIRED_NAMES.map((name) => `${PREFIX}${name}`);
  return `${issuerName}, ${clientName} and ${rolesName} must all be set, or no ${PREFIX} setting.`;
}
