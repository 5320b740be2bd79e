// The work that a server process can do. Processes of one installation share only the database, so
// each role can run in any number of processes.
import { listOf } from '../../kernel/settings.ts';

export const ROLES = ['api', 'jobs', 'deliver'] as const;

/** `api` serves clients, `jobs` runs jobs and sweeps, `deliver` sends webhooks. */
export type Role = (typeof ROLES)[number];

const isRole = (name: string): name is Role => ROLES.some((each) => each === name);

/** The roles of a setting in the order of `ROLES`, each once. */
export function rolesOf(text: string): Role[] {
  const names = new Set(listOf(text).filter(isRole));
  return ROLES.filter((each) => names.has(each));
}

/** The error of a setting. Names the invalid roles. */
export function rolesProblem(text: string): string | undefined {
  const unknownNames = listOf(text).filter((name) => !isRole(name));
  if (unknownNames.length === 0) return undefined;
  const names = unknownNames.map((name) => JSON.stringify(name.slice(0, 32))).join(', ');
  return (
    `must be one or more of ${ROLES.join(', ')}, separated by commas. ` +
    `${names} ${unknownNames.length > 1 ? 'are not roles' : 'is not a role'}`
  );
}
