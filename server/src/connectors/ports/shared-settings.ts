// Settings of several connectors. Each is one value, so that help and documents list it once.
import {
  folderSetting,
  listOf,
  listSetting,
  problemUnless,
  serviceUrlProblem,
} from '../../kernel/settings.ts';

/** Name of a provider: its address without a query, exactly as in its tokens. */
function issuersProblem(text: string): string | undefined {
  const isGood = (each: string) =>
    serviceUrlProblem(each) === undefined && !/[?#@\s]/.test(each) && each.length <= 512;
  const problem =
    'must be addresses with https, or with http on this machine, without a query, with commas between';
  return problemUnless(listOf(text).every(isGood), problem);
}

/** Identity providers whose tokens are accepted in addition to the built-in ones. */
export const OidcIssuers = listSetting(
  {
    env: 'RAILHEAD_OIDC_ISSUERS',
    flag: 'oidc-issuers',
    value: 'URLS',
    help: 'more identity providers that users of wallets may sign in with, commas between',
  },
  issuersProblem,
);

/** Storage folder of files; with a bucket, the folder where they are staged. */
export const FilesFolder = folderSetting({
  env: 'RAILHEAD_FILES_DIR',
  flag: 'files-dir',
  help: "clients' files, in the data folder when absent; several machines must share it or use S3",
});
