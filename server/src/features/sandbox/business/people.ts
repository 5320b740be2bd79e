// The customers of the world `business`: people and businesses of several countries. All names are
// combined at random from common given and family names, or invented.
import type { SeededRandom } from './seeded-random.ts';

interface Country {
  code: string;
  /** Share of the customers. */
  share: number;
  givenNames: readonly string[];
  familyNames: readonly string[];
  addresses: readonly (readonly [
    line1: string,
    city: string,
    postalCode: string,
    state?: string,
  ])[];
  /** Currency in addition to USD that its customers hold. */
  currency?: string;
}

const split = (names: string): string[] => names.split(' ');

const COUNTRIES: readonly Country[] = [
  {
    code: 'US',
    share: 0.46,
    givenNames: split(
      'Amara Caleb Dana Elena Grant Hannah Isaac Jenna Leon Maya Nolan Priya Ruth Tessa',
    ),
    familyNames: split(
      'Adler Brooks Castillo Dunn Ellison Foster Hale Kim Lowell Mercer Okafor Reyes',
    ),
    addresses: [
      ['48 Willow Street', 'Portland', '97205', 'OR'],
      ['210 Harbor Road', 'Seattle', '98101', 'WA'],
      ['1702 Juniper Avenue', 'Austin', '78702', 'TX'],
      ['95 Mill Lane', 'Burlington', '05401', 'VT'],
    ],
  },
  {
    code: 'MX',
    share: 0.13,
    givenNames: split('Alejandra Bruno Camila Diego Fernanda Julián Lucía Mateo Renata Sofía'),
    familyNames: split('Aguilar Cárdenas Domínguez Fuentes Herrera Montes Navarro Rivas Soto'),
    addresses: [
      ['Calle Jacarandas 14', 'Guadalajara', '44100', 'JAL'],
      ['Avenida Olmos 230', 'Monterrey', '64000', 'NLE'],
    ],
    currency: 'MXN',
  },
  {
    code: 'IN',
    share: 0.12,
    givenNames: split('Aarav Anika Dev Ishaan Kavya Meera Nikhil Rohan Sana Vikram'),
    familyNames: split('Bose Chandra Desai Iyer Kapoor Menon Nair Rao Sharma Verma'),
    addresses: [
      ['12 Lotus Lane', 'Pune', '411001', 'MH'],
      ['7 Banyan Road', 'Bengaluru', '560001', 'KA'],
    ],
    currency: 'INR',
  },
  {
    code: 'BR',
    share: 0.09,
    givenNames: split('Ana Caio Helena Igor Larissa Marcelo Paula Rafael Thaís Vitor'),
    familyNames: split('Almeida Barros Cardoso Farias Lacerda Moreira Pires Teixeira'),
    addresses: [['Rua das Acácias 88', 'Curitiba', '80010-000', 'PR']],
    currency: 'BRL',
  },
  {
    code: 'NG',
    share: 0.08,
    givenNames: split('Adaeze Bola Chidi Folake Ifeoma Kunle Ngozi Tunde'),
    familyNames: split('Adeyemi Balogun Eze Ibrahim Nwosu Olawale Umar'),
    addresses: [['5 Palm Close', 'Lagos', '101233', 'LA']],
    currency: 'NGN',
  },
  {
    code: 'PH',
    share: 0.07,
    givenNames: split('Andrea Carlo Danica Jose Lea Miguel Paolo Trisha'),
    familyNames: split('Bautista Cruz Delgado Mendoza Pascual Santos Villanueva'),
    addresses: [['31 Mango Street', 'Cebu City', '6000']],
    currency: 'PHP',
  },
  {
    code: 'DE',
    share: 0.05,
    givenNames: split('Emil Frieda Hanna Jonas Lotte Matthis'),
    familyNames: split('Albrecht Brandt Ebert Lindner Sommer Vogt'),
    addresses: [['Heidestraße 17', 'Berlin', '10557']],
    currency: 'EUR',
  },
];

const BUSINESS_NAMES = {
  names: [
    ...split('Northlight Cedarpoint Bluewren Saltmarsh Copperfield Larkspur Meridian Oakhurst'),
    ...split('Pinewater Quillon Redfern Tidewell Umberland Westmoor Yarrow Alderway'),
  ],
  trades: ['Coffee Roasters', 'Logistics', 'Software', 'Ceramics', 'Travel', 'Textiles', 'Optics'],
  forms: { US: 'LLC', MX: 'SA de CV', IN: 'Private Limited', BR: 'Ltda', NG: 'Ltd', PH: 'Inc' },
} as const;

export interface Customer {
  /** Name in references of steps, and `platformCustomerId`. */
  key: string;
  name: string;
  isBusiness: boolean;
  country: string;
  /** Currency in addition to USD. */
  localCurrency: string | undefined;
  /** Body of `createCustomer`. */
  body: Record<string, unknown>;
}

const asciiOf = (text: string) =>
  text
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z ]/g, '')
    .toLowerCase()
    .trim()
    .replaceAll(/ +/g, '.');

/** A given and a family name of a country. */
const nameIn = ({ givenNames, familyNames }: Country, random: SeededRandom) =>
  `${random.pick(givenNames)} ${random.pick(familyNames)}`;

const countryOf = (code: string) => COUNTRIES.find((each) => each.code === code) as Country;

/**
 * The name of a payee in a country. Countries without a list of names use names of the United
 * States.
 */
export const payeeName = (country: string, random: SeededRandom): string =>
  nameIn(COUNTRIES.find(({ code }) => code === country) ?? countryOf('US'), random);

function addressIn({ addresses, code }: Country, random: SeededRandom) {
  const [line1, city, postalCode, state] = random.pick(addresses);
  return { line1, city, postalCode, ...(state ? { state } : {}), country: code };
}

const dateOf = (random: SeededRandom, from: number, to: number) =>
  `${random.integer(from, to)}-0${random.integer(1, 9)}-${random.integer(10, 28)}`;

function individual(key: string, country: Country, random: SeededRandom): Customer {
  const name = nameIn(country, random);
  return {
    key,
    name,
    isBusiness: false,
    country: country.code,
    localCurrency: country.currency,
    body: {
      customerType: 'INDIVIDUAL',
      platformCustomerId: key,
      fullName: name,
      birthDate: dateOf(random, 1961, 2003),
      nationality: country.code,
      email: `${asciiOf(name)}.${key.replace(/\D/g, '')}@example.com`,
      phoneNumber: country.code === 'DE' ? `+4915112${random.digits(6)}` : undefined,
      address: addressIn(country, random),
    },
  };
}

function business(key: string, index: number, country: Country, random: SeededRandom): Customer {
  const { names, trades } = BUSINESS_NAMES;
  const form = BUSINESS_NAMES.forms[country.code as keyof typeof BUSINESS_NAMES.forms] ?? 'LLC';
  const trade = trades[(index + Math.floor(index / names.length)) % trades.length];
  const name = `${names[index % names.length]} ${trade} ${form}`;
  return {
    key,
    name,
    isBusiness: true,
    country: country.code,
    localCurrency: country.currency,
    body: {
      customerType: 'BUSINESS',
      platformCustomerId: key,
      address: addressIn(country, random),
      businessInfo: {
        legalName: name,
        country: country.code,
        taxId: country.code === 'US' ? `12-3${random.digits(6)}` : random.digits(11),
        incorporatedOn: dateOf(random, 2004, 2023),
        registrationNumber: `${country.code}-${random.digits(6)}${random.integer(200, 999)}`,
        entityType: 'LLC',
        businessType: 'INFORMATION',
        countriesOfOperation: [country.code],
        purposeOfAccount: 'SUPPLIER_PAYMENTS',
        sourceOfFunds: `Sales of ${trade?.toLowerCase()}`,
      },
    },
  };
}

/** A random country, in proportion to the shares. */
function countryAt(random: SeededRandom): Country {
  let remainingShare = random.next();
  for (const country of COUNTRIES) {
    remainingShare -= country.share;
    if (remainingShare < 0) return country;
  }
  return countryOf('US');
}

/** The customers in the order in which they join. About a fifth are businesses. */
export function customersOf(count: number, random: SeededRandom): Customer[] {
  let businessCount = 0;
  return Array.from({ length: count }, (_, index) => {
    const key = `customer-${1001 + index}`;
    const country = countryAt(random);
    const isFirm = country.code !== 'DE' && random.is(0.22);
    return isFirm
      ? business(key, businessCount++, country, random)
      : individual(key, country, random);
  });
}
