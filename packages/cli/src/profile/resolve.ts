// Selects the server and the credentials of a command: flags, then environment, then profile, then
// the server in the current folder.
import path from 'node:path';
import process from 'node:process';
import { API_DATE } from '../api/metadata.ts';
import { CliError, EXIT, usageError } from '../exit.ts';
import { closest } from '../suggest.ts';
import { type Config, configFile, type Profile, readConfig, readJson } from './config.ts';

export interface Target extends Profile {
  /** Source of the target, such as `profile staging`. */
  readonly source: string;
}

/** The profile of a server that runs in the current folder. */
export const LOCAL = 'local';
const LOCAL_FILE = path.join('.railhead', 'credentials.json');

/** Completes a text such as `localhost:4000` to a base URL with the date of the API. */
export function baseUrlOf(text: string): string {
  const isLocal = /^(localhost|127\.|\[::1\])/.test(text);
  const withScheme = /^https?:\/\//.test(text) ? text : `${isLocal ? 'http' : 'https'}://${text}`;
  let url: URL;
  try {
    url = new URL(withScheme);
  } catch {
    throw usageError(`${text} is not a URL.`, 'Example: http://localhost:4000');
  }
  const basePath = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${basePath || `/${API_DATE}`}`;
}

export function localTarget(folder = process.cwd()): Target | undefined {
  const file = path.join(folder, LOCAL_FILE);
  const credentials = readJson(file) as Record<string, string> | undefined;
  const { baseUrl, clientId, clientSecret } = credentials ?? {};
  if (!baseUrl || !clientId || !clientSecret) return undefined;
  return { url: baseUrl, clientId, clientSecret, source: LOCAL_FILE };
}

function namedProfile(name: string, { profiles }: Config): Target {
  const profile = profiles[name];
  if (profile) return { ...profile, source: `profile ${name}` };
  const names = [...Object.keys(profiles), LOCAL];
  const hint = closest(name, names)
    ? `Did you mean ${closest(name, names)}?`
    : `Create it with \`railhead login --profile ${name}\`.`;
  throw new CliError(`There is no profile ${name}.`, { exitCode: EXIT.credentials, hint });
}

/** The target of a profile, without the environment, or undefined if no server is configured. */
function storedTarget(name: string | undefined): Target | undefined {
  const config = readConfig(configFile());
  if (name === LOCAL && !config.profiles[LOCAL]) {
    const target = localTarget();
    if (target) return target;
    const hint = 'Start a server with `npm start` in this folder.';
    throw new CliError(`There is no ${LOCAL_FILE} in this folder.`, {
      exitCode: EXIT.credentials,
      hint,
    });
  }
  const profile = name ?? config.current;
  return profile === undefined ? localTarget() : namedProfile(profile, config);
}

export interface TargetOptions {
  readonly profile?: string | undefined;
  readonly baseUrl?: string | undefined;
}

export function targetOf(options: TargetOptions, env = process.env): Target {
  const { RAILHEAD_CLIENT_ID: id, RAILHEAD_CLIENT_SECRET: secret } = env;
  const url = options.baseUrl ?? (options.profile ? undefined : env.RAILHEAD_URL);
  const name = options.profile ?? (env.RAILHEAD_PROFILE || undefined);
  const isComplete = !options.profile && url && id && secret;
  const fallbackTarget = isComplete ? undefined : storedTarget(name);
  const target = {
    url: url ? baseUrlOf(url) : fallbackTarget?.url,
    clientId: (!options.profile && id) || fallbackTarget?.clientId,
    clientSecret: (!options.profile && secret) || fallbackTarget?.clientSecret,
  };
  if (!target.url || !target.clientId || !target.clientSecret) {
    throw new CliError('No server is configured.', {
      exitCode: EXIT.credentials,
      hint:
        'Log in with `railhead login`, set RAILHEAD_URL, RAILHEAD_CLIENT_ID and ' +
        'RAILHEAD_CLIENT_SECRET, or run the command in the folder of a local server.',
    });
  }
  const { clientId, clientSecret } = target;
  const source = fallbackTarget?.source ?? 'environment';
  return { url: target.url, clientId, clientSecret, source };
}
