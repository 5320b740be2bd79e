// Requirements for every connector of the list, applied without further registration. The suites in
// `ports/` and `storage.test.ts` test the requirements of the ports.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TObject, Type } from '@sinclair/typebox';
import { afterAll, describe, expect, it } from 'vitest';
import { testEffects } from '../../test/kit/app/effects.ts';
import { partsIn } from '../../test/kit/payments/connectors.ts';
import { settingsHelp, settingsTable } from '../config.ts';
import type { Effects } from '../kernel/effects.ts';
import { MODES, type Mode } from '../kernel/mode.ts';
import { type SettingLeaf, serviceSetting, settingsIn } from '../kernel/settings.ts';
import {
  type Capabilities,
  type Capability,
  type Connector,
  defineConnector,
} from './connector.ts';
import { CONNECTORS, connectorRegistry, connectorSettings, openConnectors } from './registry.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'contract-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fundingFile = path.join(folder, 'funding.json');
writeFileSync(fundingFile, '{}');

const SERVICE_URL = 'https://provider.example/path?key=PRIVATE';

/**
 * A valid value of each setting, by its environment variable. The URL of a service contains a
 * credential.
 */
const SAMPLES: Readonly<Record<string, string>> = {
  RAILHEAD_FUNDING_FILE: fundingFile,
  RAILHEAD_SMTP_URL: 'smtps://user:PRIVATE@mail.example.com:465',
  RAILHEAD_MAIL_FROM: 'Acme <pay@example.com>',
  RAILHEAD_OIDC_ISSUERS: 'https://id.example.com',
  RAILHEAD_FILES_DIR: folder,
  RAILHEAD_S3_BUCKET: 'files',
  RAILHEAD_S3_REGION: 'eu-central-1',
  RAILHEAD_S3_ACCESS_KEY_ID: 'PRIVATE',
  RAILHEAD_S3_SECRET_ACCESS_KEY: 'PRIVATE',
};

/** Settings that exclude another setting of the samples. */
const EXCLUDED_SETTINGS = ['RAILHEAD_RATES_FILE'];

const sampleOf = ({ env, fallback }: SettingLeaf) => SAMPLES[env] ?? fallback ?? SERVICE_URL;

/** Values of the selected settings. */
function valuesOf({ settings }: Connector, isSelected: (leaf: SettingLeaf) => boolean) {
  const values: Record<string, unknown> = {};
  for (const leaf of settingsIn(settings).filter(isSelected)) {
    const [name = '', innerName] = leaf.path;
    const value = leaf.read(sampleOf(leaf), folder);
    values[name] = innerName ? { ...(values[name] as object), [innerName]: value } : value;
  }
  return values;
}

const requiredValues = (connector: Connector) =>
  valuesOf(connector, ({ isRequired }) => isRequired);
const allValues = (connector: Connector) =>
  valuesOf(connector, ({ env }) => !EXCLUDED_SETTINGS.includes(env));

/** A network that counts the calls and rejects each. */
function unreachableEffects(): Effects & { calls: number } {
  const reject = async () => {
    effects.calls += 1;
    throw new Error('no network');
  };
  const effects = { ...testEffects(), calls: 0, http: reject, stream: reject, call: reject };
  return effects;
}

function openConnector(
  connector: Connector,
  mode: Mode,
  values: object,
  effects = unreachableEffects(),
) {
  return openConnectors([connector], partsIn(mode, effects), { ...values });
}

const namesOf = (capabilities: Capabilities) =>
  Object.entries(capabilities).flatMap(([name, value]) => (value === undefined ? [] : [name]));

type RequiredMembers<Port> = {
  [M in keyof Port]-?: undefined extends Port[M] ? never : M;
}[keyof Port];

/** Members that each capability must have. */
const MEMBERS: {
  [Name in Capability]: readonly RequiredMembers<NonNullable<Capabilities[Name]>>[];
} = {
  mail: ['send'],
  sms: ['send'],
  rail: ['supportsPayout', 'send', 'check'],
  names: ['verify'],
  rates: ['rate'],
  firmQuotes: ['request', 'redeem'],
  funding: ['instructions'],
  identity: ['submit', 'check'],
  uma: ['reaches', 'discoverPayee', 'payRequest', 'send', 'check'],
  networkFees: ['feeOf'],
  liveness: ['check', 'complete'],
  contractWallets: ['reaches', 'approves'],
  documents: ['check'],
  custody: [
    ...(['newSeed', 'exportSeed', 'newSessionKey', 'newOtpTarget', 'openOtp'] as const),
    ...(['signToken', 'newSigner', 'stampWith', 'publicKeys'] as const),
  ],
  oidc: ['verify'],
  walletScript: ['code', 'stamp', 'assertionSignature', 'failure', 'rejectsEmail'],
  issuer: ['issue', 'check', 'details', 'debitFunding', 'checkFundingDebit'],
  mint: ['accountsOf', 'token', 'linkAccount', 'prepare', 'submit', 'check'],
  storage: ['put', 'get', 'remove'],
};

describe('the list of connectors', () => {
  it('has one connector for each folder, exported by its index', async () => {
    const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
      // Providers are rows of a table, so `gateway` is absent from the list.
      .filter((each) => each.isDirectory() && !['ports', 'gateway'].includes(each.name))
      .map((each) => each.name);
    expect(CONNECTORS.map(({ name }) => name).sort()).toEqual(folders.sort());
    for (const connector of CONNECTORS) {
      const exportedModule = await import(`./${connector.name}/index.ts`);
      expect(Object.values(exportedModule)).toEqual([connector]);
    }
  });

  it('defines each shared setting by one schema', () => {
    const schemas = new Map<string, unknown>();
    for (const { settings } of CONNECTORS) {
      for (const property of Object.values((settings as TObject).properties)) {
        const { env } = property as { env?: string };
        if (env === undefined) continue;
        expect(schemas.get(env) ?? property, env).toBe(property);
        schemas.set(env, property);
      }
    }
  });

  it('lists every setting once, in help and in the table', () => {
    const names = connectorSettings().map(({ env }) => env);
    expect(new Set(names).size).toBe(names.length);
    for (const env of names) {
      expect(settingsHelp().split(`${env}`).length, env).toBeGreaterThan(1);
      expect(settingsTable()).toContain(`| \`${env}\` |`);
    }
  });
});

describe.each(CONNECTORS.map((each) => [each.name, each] as const))(
  'the connector %s',
  (_name, connector) => {
    const leaves = settingsIn(connector.settings);
    const { capabilities, optional = [], fallbackFor = [] } = connector;

    it('has a description, modes and capabilities', () => {
      expect(connector.description).toMatch(/^[A-Z].*\.$/);
      expect(connector.modes.length).toBeGreaterThan(0);
      expect([...new Set(connector.modes)]).toEqual([...connector.modes]);
      for (const mode of connector.modes) expect(MODES).toContain(mode);
      expect(capabilities.length + optional.length).toBeGreaterThan(0);
      for (const name of optional) expect(capabilities).not.toContain(name);
      for (const name of fallbackFor) expect([...capabilities, ...optional]).toContain(name);
    });

    it('describes each of its settings, and accepts a sample and the default', () => {
      const countDescribedSettings = (schema: TObject): number =>
        Object.values(schema.properties)
          .map((setting) => {
            expect(setting.description).toBeTruthy();
            return setting.type === 'object' ? countDescribedSettings(setting as TObject) : 1;
          })
          .reduce((sum, each) => sum + each, 0);
      // Each property that is not an object is a setting with an environment variable.
      expect(leaves.length).toBe(countDescribedSettings(connector.settings));
      for (const leaf of leaves) {
        expect(leaf.env).toMatch(/^[A-Z][A-Z0-9_]+$/);
        expect(leaf.validate(sampleOf(leaf)), leaf.env).toBeUndefined();
        if (leaf.fallback) expect(leaf.validate(leaf.fallback)).toBeUndefined();
      }
    });

    it('marks settings that may hold a credential, and omits credentials from errors', () => {
      for (const leaf of leaves) {
        const isSensitive = /SECRET|PASSWORD|TOKEN|ACCESS_KEY|_URL$|_RPC_/.test(leaf.env);
        if (isSensitive) expect([leaf.env, leaf.secret]).toEqual([leaf.env, true]);
        expect(leaf.validate('PRIVATE\n\0,;=') ?? '').not.toContain('PRIVATE');
        if (!leaf.secret) continue;
        const [name = '', innerName] = leaf.path;
        const values = allValues(connector);
        const invalidSetting = { PRIVATE: 'PRIVATE' };
        const invalidValue = innerName
          ? { ...(values[name] as object), [innerName]: invalidSetting }
          : invalidSetting;
        const attempt = () =>
          openConnector(connector, connector.modes[0]!, { ...values, [name]: invalidValue });
        expect(attempt).toThrow(leaf.env);
        expect(attempt).not.toThrow('PRIVATE');
      }
    });

    it.each(connector.modes)(
      'offers its declared capabilities in %s, without a network call',
      (mode) => {
        const minimalEffects = unreachableEffects();
        const context = { ...partsIn(mode, minimalEffects), keys: undefined };
        const minimalCapabilities = openConnectors([connector], context, requiredValues(connector));
        expect(namesOf(minimalCapabilities).sort()).toEqual([...capabilities].sort());
        const effects = unreachableEffects();
        const maxCapabilities = openConnector(connector, mode, allValues(connector), effects);
        expect(namesOf(maxCapabilities).sort()).toEqual([...capabilities, ...optional].sort());
        for (const [name, value] of Object.entries(maxCapabilities)) {
          for (const member of MEMBERS[name as Capability]) {
            expect(value[member as never], `${name}.${member}`).toBeDefined();
          }
        }
        expect([minimalEffects.calls, effects.calls]).toEqual([0, 0]);
      },
    );

    it('offers no capability in another mode, or without a setting that it requires', () => {
      for (const mode of MODES.filter((each) => !connector.modes.includes(each))) {
        expect(openConnector(connector, mode, allValues(connector))).toEqual({});
      }
      for (const { path: settingPath } of leaves.filter(({ isRequired }) => isRequired)) {
        const { [settingPath[0]!]: _without, ...otherValues } = allValues(connector);
        expect(openConnector(connector, connector.modes[0]!, otherValues)).toEqual({});
      }
    });
  },
);

describe('openConnectors', () => {
  const fees = { feeOf: async () => undefined };
  const createConnector = (name: string, overrides: Partial<Connector> = {}): Connector => ({
    ...defineConnector({
      name,
      description: 'Fees.',
      modes: ['production'],
      settings: Type.Object({}),
      capabilities: ['networkFees'],
      open: () => ({ networkFees: { ...fees } }),
    }),
    ...overrides,
  });
  const openInProduction = (...connectors: Connector[]) =>
    openConnectors(connectors, partsIn('production', testEffects()), {});

  it('reports both connectors that offer one capability of a mode', () => {
    expect(() => openInProduction(createConnector('acme'), createConnector('other'))).toThrow(
      'The connectors acme and other both offer networkFees in production. Configure one of them.',
    );
  });

  it('replaces a fallback by any other connector, regardless of the order in the list', () => {
    const ownFees = { ...fees };
    const fallback = createConnector('fallback', { fallbackFor: ['networkFees'] });
    const acme = createConnector('acme', { open: () => ({ networkFees: ownFees }) });
    expect(openInProduction(fallback, acme).networkFees).toBe(ownFees);
    expect(openInProduction(acme, fallback).networkFees).toBe(ownFees);
    expect(namesOf(openInProduction(fallback))).toEqual(['networkFees']);
  });

  it('reports every invalid setting of every connector by its environment variable', () => {
    const settingsOf = (name: string) =>
      Type.Object({ [name]: serviceSetting({ env: name.toUpperCase(), help: 'a service' }) });
    const acme = createConnector('acme', { settings: settingsOf('acme') });
    const otherConnector = createConnector('other', { settings: settingsOf('other') });
    const values = { acme: 1, other: [] };
    expect(() =>
      openConnectors([acme, otherConnector], partsIn('production', testEffects()), values),
    ).toThrow('ACME must be string.\nOTHER must be string.');
  });

  it('rejects undeclared capabilities of a connector', () => {
    const acme = createConnector('acme', { capabilities: ['liveness'] });
    expect(() => openInProduction(acme)).toThrow(
      'The connector acme offers networkFees without declaring it.',
    );
  });
});

describe('connectorRegistry', () => {
  it('allows the starting program to replace capabilities of connectors', () => {
    const issuer = { connect: () => {} } as never;
    const registry = connectorRegistry(testEffects(), { production: { issuer } });
    expect(registry('production').issuer).toBe(issuer);
    expect(registry('sandbox').issuer).toBeUndefined();
  });

  it('rejects settings that exclude each other', () => {
    const conflictingSettings = { ratesUrl: SERVICE_URL, ratesFile: fundingFile };
    expect(() => connectorRegistry(testEffects(), conflictingSettings)).toThrow(
      'RAILHEAD_RATES_URL and RAILHEAD_RATES_FILE exclude each other.',
    );
  });
});
